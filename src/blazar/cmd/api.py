"""``blazar-api``: the API with its built-in server; WSGI servers run ``blazar.wsgi.api`` instead."""

from __future__ import annotations

import sys

from oslo_config import cfg

from blazar import config
from blazar.cmd.flags import FLAGS, IDLE_IN_API, warn_of_flags
from blazar.cmd.http import check_exposure, make_server, serve_until
from blazar.cmd.problems import run
from blazar.cmd.signals import stop_event
from blazar.wsgi.application import make_application

_CLI_OPTIONS = [
    *FLAGS,
    cfg.BoolOpt(
        "allow-unauthenticated-access",
        default=False,
        help="Same as [api] allow_unauthenticated_access.",
    ),
]


def main() -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    return run("blazar-api", _serve)


def _serve() -> int:
    stop = stop_event()
    conf = config.make_conf(sys.argv[1:], "blazar-api", conf=cfg.CONF, cli_options=_CLI_OPTIONS)
    config.set_up_logging(conf)
    warn_of_flags(conf, IDLE_IN_API)
    settings = config.read_server_settings(conf)
    is_allowed = conf.allow_unauthenticated_access or conf.api.allow_unauthenticated_access
    check_exposure(conf, settings.host, is_allowed)
    server = make_server(make_application(conf), conf, settings.host, settings.port)
    serve_until(server, stop)
    return 0


if __name__ == "__main__":
    sys.exit(main())
