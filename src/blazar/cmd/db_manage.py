"""``blazar-db-manage``: schema migrations, with the sub-commands of the existing service."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, Final

from alembic import command
from oslo_config import cfg

from blazar import config
from blazar.cmd.contexts import impatient_engine
from blazar.cmd.installation import make_conf
from blazar.cmd.problems import run
from blazar.db.schema import alembic_config, change, contract
from blazar.manager.plugins import PluginError

_CHANGING: Final = frozenset({"upgrade", "downgrade", "stamp"})
"""Sub-commands that change the revision of the database."""


def main() -> int:
    """Run a sub-command; return the exit code."""
    return run("blazar-db-manage", _migrate)


def _migrate() -> int:
    command_line = cfg.SubCommandOpt("command", title="sub-commands", handler=_add_parsers)
    conf = make_conf(sys.argv[1:], "blazar-db-manage", [command_line])
    config.set_up_logging(conf)
    url = conf.database.connection
    if not url:
        raise PluginError("[database] connection is not set")
    chosen = conf.command
    if chosen.name in ("upgrade", "downgrade") and not _target(chosen):
        raise PluginError(f"{chosen.name} needs a revision or --delta")
    if getattr(chosen, "sql", False):
        _run(chosen, alembic_config(url=url))
        return 0
    engine = impatient_engine(conf)
    if chosen.name == "contract":
        contract(engine)
        return 0
    if chosen.name in _CHANGING:
        change(engine, partial(_run, chosen))
        return 0
    with engine.connect() as connection:
        _run(chosen, alembic_config(connection))
        connection.commit()
    return 0


def _add_parsers(parsers: Any) -> None:
    for name in ("current", "history", "branches", "check_migration"):
        parsers.add_parser(name)
    parsers.add_parser("contract", help="end the use of the schema by processes of the previous release")
    for name in ("upgrade", "downgrade"):
        parser = parsers.add_parser(name)
        parser.add_argument("--delta", type=int, help="number of revisions up or down")
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
