"""``blazar-db-manage``: the schema, with the sub-commands of the existing service (behaviour 9.3)."""

from __future__ import annotations

import sys
from typing import Any

from alembic import command
from oslo_config import cfg

from blazar import config
from blazar.db.engine import make_engine
from blazar.db.schema import alembic_config


def main() -> int:
    """Run one sub-command; return the exit code."""
    conf = config.make_conf(
        sys.argv[1:],
        "blazar-db-manage",
        cli_options=[cfg.SubCommandOpt("command", title="sub-commands", handler=_add_parsers)],
    )
    config.set_up_logging(conf)
    url = conf.database.connection
    if not url:
        print("blazar-db-manage: [database] connection is not set", file=sys.stderr)
        return 1
    chosen = conf.command
    if chosen.name in ("upgrade", "downgrade") and not _target(chosen):
        print(f"blazar-db-manage: {chosen.name} needs a revision or --delta", file=sys.stderr)
        return 1
    if getattr(chosen, "sql", False):
        _run(chosen, alembic_config(url=url))
        return 0
    engine = make_engine(url, **config.read_server_settings(conf).database_options)
    with engine.connect() as connection:
        _run(chosen, alembic_config(connection))
        connection.commit()
    return 0


def _add_parsers(parsers: Any) -> None:
    for name in ("current", "history", "branches", "check_migration"):
        parsers.add_parser(name)
    for name in ("upgrade", "downgrade"):
        parser = parsers.add_parser(name)
        parser.add_argument("--delta", type=int, help="how many revisions up or down")
        parser.add_argument("--sql", action="store_true", help="print the SQL instead of running it")
        parser.add_argument("revision", nargs="?", help="a revision, or head")
    stamp = parsers.add_parser("stamp")
    stamp.add_argument("--sql", action="store_true", help="print the SQL instead of running it")
    stamp.add_argument("revision")
    revision = parsers.add_parser("revision")
    revision.add_argument("-m", "--message")
    revision.add_argument("--autogenerate", action="store_true")
    revision.add_argument("--sql", action="store_true", help="print the SQL instead of running it")


def _target(chosen: Any) -> str | None:
    if chosen.delta is not None:
        return f"{chosen.delta if chosen.name == 'upgrade' else -chosen.delta:+d}"
    return str(chosen.revision) if chosen.revision else None


def _run(chosen: Any, alembic: Any) -> None:
    match chosen.name:
        case "upgrade":
            command.upgrade(alembic, _target(chosen) or "head", sql=chosen.sql)
        case "downgrade":
            command.downgrade(alembic, _target(chosen) or "-1", sql=chosen.sql)
        case "stamp":
            command.stamp(alembic, chosen.revision, sql=chosen.sql)
        case "revision":
            command.revision(alembic, chosen.message, autogenerate=chosen.autogenerate, sql=chosen.sql)
        case "check_migration":
            command.branches(alembic)
        case name:
            getattr(command, name)(alembic)


if __name__ == "__main__":
    sys.exit(main())
