"""``blazar-manage``: what an operator does by hand, on the database and the cloud of the configuration."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from oslo_config import cfg

from blazar import config
from blazar.app.context import Context
from blazar.app.host_refresh import refresh_hosts
from blazar.db.engine import make_engine
from blazar.db.schema import current_revision, head_revision
from blazar.domain.errors import BlazarError
from blazar.manager.build import build_context
from blazar.manager.clocks import SystemClock
from blazar.manager.plugins import PluginError, load_cloud
from blazar.manager.waking import ProcessWaker


def main() -> int:
    """Run one sub-command.

    Returns:
        0; 1 if it could not be done for everything that was named.
    """
    conf = config.make_conf(
        sys.argv[1:],
        "blazar-manage",
        conf=cfg.CONF,
        cli_options=[cfg.SubCommandOpt("command", title="sub-commands", handler=_add_parsers)],
    )
    config.set_up_logging(conf)
    try:
        return int(conf.command.run(_context(conf), conf.command))
    except (PluginError, BlazarError) as error:
        print(f"blazar-manage: {error}", file=sys.stderr)
        return 1


def _add_parsers(parsers: Any) -> None:
    host = parsers.add_parser("host", help="registered hosts").add_subparsers(required=True)
    refresh = host.add_parser("refresh", help="read hosts from Nova and Placement again")
    refresh.add_argument("names", nargs="*", metavar="name", help="hypervisor host names; all by default")
    refresh.set_defaults(run=_refresh)


def _refresh(context: Context, arguments: Any) -> int:
    names = set(arguments.names)
    with context.store.read() as transaction:
        registered = {each.hypervisor_hostname for each in transaction.hosts.list()}
    unregistered = sorted(names - registered)
    result = refresh_hosts(context, f"blazar-manage of {getpass.getuser()}", names=names or None)
    for name, changes in result.changed.items():
        print(f"{name}: {changes}")
    problems = {
        **dict.fromkeys(unregistered, "is not registered"),
        **dict.fromkeys(result.unknown, "Nova does not know it any more"),
        **result.failed,
    }
    for name, problem in problems.items():
        print(f"{name}: {problem}", file=sys.stderr)
    looked_at = len(names or registered) - len(problems)
    print(f"{looked_at} hosts were read again, {len(result.changed)} have changed")
    return 1 if problems else 0


def _context(conf: cfg.ConfigOpts) -> Context:
    server = config.read_server_settings(conf)
    if not server.database_url:
        raise PluginError("[database] connection: is not set")
    engine = make_engine(server.database_url, **server.database_options)
    if current_revision(engine) != head_revision():
        raise PluginError("the schema is not current: run blazar-db-manage upgrade head")
    clock = SystemClock()
    cloud = load_cloud(conf.manager.cloud, conf, clock)
    waker = ProcessWaker(lambda: None)
    return build_context(engine, clock, cloud, config.read_settings(conf), server.plugins, waker)


if __name__ == "__main__":
    sys.exit(main())
