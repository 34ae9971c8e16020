"""The minimum of a call over the broker: a process that returns an empty response to an empty request.

``python -m bench.service.echo --config-file FILE``; transport and server are those of the service.
"""

from __future__ import annotations

import signal
import sys
from typing import cast

from oslo_config.cfg import CONF

from blazar import config
from blazar.ports.manager import Manager
from blazar.rpc.bus import get_transport, make_server

TOPIC = "bench.echo"
_NOBODY = cast("Manager", None)


def main() -> None:
    """Respond until SIGTERM."""
    # Block the signal, so that the library's threads leave it to the wait below.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    conf = config.make_conf(sys.argv[1:], "bench-echo", conf=CONF)
    server = make_server(get_transport(conf), TOPIC, "echo", _NOBODY, lambda: None)
    server.start()
    signal.sigwait([signal.SIGTERM])
    server.stop()
    server.wait()


if __name__ == "__main__":
    main()
