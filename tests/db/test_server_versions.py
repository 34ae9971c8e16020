"""Database servers that are too old are refused with the version that is needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from databases import KINDS, make_empty_database
from oslo_upgradecheck.upgradecheck import Code

from blazar.cmd.status import check_database_server
from blazar.db.schema import upgrade
from blazar.db.server_versions import OLDEST, ServerTooOld, check_server

INSTALL = Path(__file__).parents[2] / "doc/operators/install.md"
QUESTIONS = {"mysql": "SELECT VERSION()", "postgresql": "SHOW server_version"}

PROGRAM = """
import sys
import sqlalchemy as sa
from {module} import main

def ask(connection, cursor, statement, parameters, *rest):
    return "SELECT '10.5.29-MariaDB'" if statement == "SELECT VERSION()" else statement, parameters

sa.event.listen(sa.Engine, "before_cursor_execute", ask, retval=True)
sys.exit(main())
"""
"""A program of the service, whose database server says that it is old."""


@contextmanager
def said_version(engine: sa.Engine, text: str) -> Iterator[None]:
    """Let the server of *engine* say another version."""

    def ask(connection: Any, cursor: Any, statement: str, parameters: Any, *rest: Any) -> tuple[str, Any]:
        is_asked = statement == QUESTIONS[engine.dialect.name]
        return f"SELECT '{text}'" if is_asked else statement, parameters

    sa.event.listen(engine, "before_cursor_execute", ask, retval=True)
    try:
        yield
    finally:
        sa.event.remove(engine, "before_cursor_execute", ask)


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    with make_empty_database(request.param, tmp_path) as engine:
        yield engine


@pytest.mark.parametrize(
    ("empty", "text", "problem"),
    [
        (
            "mariadb",
            "10.5.29-MariaDB-0+deb11u1-log",
            "the database server is MariaDB 10.5.29; MariaDB 10.6 or newer is needed",
        ),
        (
            "mariadb",
            "5.5.5-10.3.39-MariaDB",
            "the database server is MariaDB 10.3.39; MariaDB 10.6 or newer is needed",
        ),
        ("mariadb", "5.7.44-log", "the database server is MySQL 5.7.44; MySQL 8.0 or newer is needed"),
        (
            "postgresql",
            "12.22 (Debian 12.22-1)",
            "the database server is PostgreSQL 12.22; PostgreSQL 13 or newer is needed",
        ),
    ],
    indirect=["empty"],
)
def test_a_server_that_is_too_old_is_refused_and_not_changed(
    empty: sa.Engine, text: str, problem: str
) -> None:
    with said_version(empty, text):
        with pytest.raises(ServerTooOld) as refused:
            upgrade(empty)
        check = check_database_server(empty)

    assert str(refused.value) == problem
    assert (check.code, check.details) == (Code.FAILURE, problem)
    assert sa.inspect(empty).get_table_names() == []


@pytest.mark.parametrize(
    ("empty", "text", "server"),
    [
        ("mariadb", "10.6.0-MariaDB", "MariaDB 10.6.0"),
        ("mariadb", "5.5.5-11.8.3-MariaDB-log", "MariaDB 11.8.3"),
        ("mariadb", "8.0.11", "MySQL 8.0.11"),
        ("postgresql", "13beta1", "PostgreSQL 13"),
        ("postgresql", "18.1", "PostgreSQL 18.1"),
        ("postgresql", "unknown", "None"),
    ],
    indirect=["empty"],
)
def test_a_server_that_is_new_enough_is_used(empty: sa.Engine, text: str, server: str) -> None:
    with said_version(empty, text):
        assert str(check_server(empty)) == server
        assert check_database_server(empty).code is Code.SUCCESS


@pytest.mark.parametrize("empty", ["mariadb"], indirect=True)
@pytest.mark.parametrize(
    "command",
    [
        "blazar.cmd.manager",
        "blazar.cmd.manage host list",
        "blazar.cmd.db_manage upgrade head",
        "blazar.cmd.standalone",
    ],
)
def test_programs_end_with_the_version_that_is_needed(empty: sa.Engine, tmp_path: Path, command: str) -> None:
    module, *arguments = command.split()
    url = empty.url.render_as_string(hide_password=False)
    path = tmp_path / "blazar.conf"
    path.write_text(
        f"[database]\nconnection = {url}\n[manager]\ncloud = simulated\n"
        f"[standalone]\nstate_dir = {tmp_path / 'state'}\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(module=module), "--config-file", path, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "the database server is MariaDB 10.5.29; MariaDB 10.6 or newer is needed" in done.stderr


@pytest.mark.parametrize("empty", KINDS, indirect=True)
def test_the_servers_of_the_tests_are_new_enough(empty: sa.Engine) -> None:
    assert check_database_server(empty).code is Code.SUCCESS


def test_the_documentation_names_the_oldest_servers() -> None:
    text = INSTALL.read_text()
    for product, version in OLDEST.items():
        assert f"{product} {'.'.join(map(str, version))} or newer" in text
