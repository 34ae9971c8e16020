"""Triggers with which MariaDB rejects overlapping exclusive allocations.

They replace a unique key ``WITHOUT OVERLAPS``. A Galera node also checks such a key while it applies changes
that other nodes have committed. To do so, it locks the neighbours of a row in the key, and two of its applier
threads may wait for each other forever. Triggers run only where a statement is executed (ADR-0009).
"""

from __future__ import annotations

import logging
from typing import Final

import sqlalchemy as sa

from blazar.db.driver_errors import number_of
from blazar.db.drivers import is_mariadb
from blazar.db.lock_waits import execute_ddl
from blazar.db.tables import NO_DOUBLE_PROMISE

_NO_RIGHT: Final = 1419
"""``ER_BINLOG_CREATE_ROUTINE_NEED_SUPER``"""
# A transaction that inserts or moves an exclusive window keeps the resource's row locked, so that two such
# transactions see each other's windows. An update that only records a release locks nothing: it may hold
# locks on other resources.
_BODY: Final = (
    "CREATE TRIGGER {name}_{event} BEFORE {event} ON allocations FOR EACH ROW"
    " IF NEW.exclusive_resource_id IS NOT NULL{condition}"
    " AND EXISTS (SELECT 1 FROM resources WHERE id = NEW.exclusive_resource_id FOR UPDATE)"
    " AND EXISTS (SELECT 1 FROM allocations AS other"
    " WHERE other.resource_id = NEW.resource_id AND other.exclusive_resource_id = NEW.exclusive_resource_id"
    " AND other.start_at < NEW.end_at AND other.end_at > NEW.start_at{other})"
    " THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{name}'; END IF"
)
_HAS_MOVED: Final = (
    " AND NOT (NEW.exclusive_resource_id <=> OLD.exclusive_resource_id"
    " AND NEW.start_at = OLD.start_at AND NEW.end_at = OLD.end_at)"
)
TRIGGERS: Final = {
    f"{NO_DOUBLE_PROMISE}_insert": _BODY.format(
        name=NO_DOUBLE_PROMISE, event="insert", condition="", other=""
    ),
    f"{NO_DOUBLE_PROMISE}_update": _BODY.format(
        name=NO_DOUBLE_PROMISE, event="update", condition=_HAS_MOVED, other=" AND other.id <> NEW.id"
    ),
}
"""The statements that create the triggers, by name."""
HOW_TO_INSTALL: Final = (
    "run blazar-db-manage upgrade head; with the binary log on, "
    "first SET GLOBAL log_bin_trust_function_creators = 1"
)

_logger = logging.getLogger(__name__)


def ensure_guard(connection: sa.Connection) -> bool:
    """Create missing triggers on MariaDB; return whether the database rejects overlaps.

    On other databases the migrations add the check, except on MySQL, where only the generations protect.
    """
    if not is_mariadb(connection.dialect):
        return connection.dialect.name != "mysql"
    for name in missing_triggers(connection):
        try:
            execute_ddl(connection, TRIGGERS[name])
        except sa.exc.DBAPIError as error:
            if number_of(error) != _NO_RIGHT:
                raise
            _logger.warning("MariaDB will not reject overlapping allocations: remedy=%s", HOW_TO_INSTALL)
            return False
    return True


def missing_triggers(connection: sa.Connection) -> list[str]:
    """Return the names of the missing triggers."""
    found = connection.exec_driver_sql(
        "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()"
    )
    known = set(found.scalars())
    return [name for name in TRIGGERS if name not in known]
