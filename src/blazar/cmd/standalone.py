"""``blazar-standalone``: the whole service in one process, on loopback, with a simulated cloud."""

from __future__ import annotations

import sys

from oslo_config import cfg

from blazar import config
from blazar.cmd.http import make_server, serve_until
from blazar.cmd.signals import stop_event
from blazar.manager.plugins import PluginError
from blazar.standalone.service import build

_CLI_OPTIONS = [
    cfg.HostAddressOpt("listen-host", default="127.0.0.1", help="Address to listen on."),
    cfg.PortOpt("listen-port", default=1234, help="Port to listen on; 0 for any free one."),
    cfg.StrOpt("state-dir", help="Folder of the database and the simulated cloud."),
]


def main() -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    stop = stop_event()
    conf = config.make_conf(sys.argv[1:], "blazar-standalone", conf=cfg.CONF, cli_options=_CLI_OPTIONS)
    # Without Keystone unless it is configured.
    conf.set_default("auth_strategy", "noauth")
    if conf.state_dir:
        conf.set_override("state_dir", conf.state_dir, group="standalone")
    config.set_up_logging(conf)
    try:
        embedded = build(conf)
    except (ValueError, PluginError) as error:
        print(f"blazar-standalone: {error}", file=sys.stderr)
        return 1
    server = make_server(embedded.application, conf, conf.listen_host, conf.listen_port)
    embedded.reconciler.start()
    print(f"blazar is at http://{conf.listen_host}:{server.effective_port}/v1", flush=True)
    serve_until(server, stop)
    embedded.reconciler.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
