"""``blazar-api``: the API with its built-in server; in production a WSGI server runs ``blazar.wsgi.api``."""

from __future__ import annotations

import sys

from oslo_config import cfg

from blazar import config
from blazar.cmd.http import make_server, serve_until
from blazar.cmd.signals import stop_event
from blazar.wsgi.application import make_application


def main() -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    stop = stop_event()
    conf = config.make_conf(sys.argv[1:], "blazar-api", conf=cfg.CONF)
    config.set_up_logging(conf)
    settings = config.read_server_settings(conf)
    server = make_server(make_application(conf), conf, settings.host, settings.port)
    serve_until(server, stop)
    return 0


if __name__ == "__main__":
    sys.exit(main())
