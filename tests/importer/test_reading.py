"""Databases that can be read, and reasons for refusing others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import old_schema
import pytest
import sqlalchemy as sa
from databases import make_empty_database
from importer.conftest import ContextOn, url_of
from installation import OldInstallation, hosts

from blazar.db.old_service.reader import SqlOldService
from blazar.importer.importing import import_database
from blazar.importer.ledger import Kind
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.old_service import NEEDED_REVISION, CannotImport


@pytest.fixture
def path(tmp_path: Path, installation: OldInstallation) -> Path:
    """Return the path of a small database."""
    installation.host(1)
    path = tmp_path / "old.sqlite"
    old_schema.write(f"sqlite:///{path}", installation.rows)
    return path


def execute(path: Path, *statements: str) -> None:
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        for each in statements:
            connection.exec_driver_sql(each)
    engine.dispose()


def refusal(path: Path) -> str:
    with pytest.raises(CannotImport) as caught:
        SqlOldService(f"sqlite:///{path}").read()
    return str(caught.value)


def test_another_revision_is_refused_and_both_are_named(path: Path) -> None:
    execute(path, "UPDATE alembic_version SET version_num = '02e2f2186d98'")

    assert f"is at revision 02e2f2186d98, but {NEEDED_REVISION} is required" in refusal(path)


@pytest.mark.parametrize("statement", ["DELETE FROM alembic_version", "DROP TABLE alembic_version"])
def test_without_a_revision_the_tables_decide(
    path: Path, statement: str, context_on: ContextOn, sqlite: sa.Engine
) -> None:
    execute(path, statement)

    result = import_database(context_on(sqlite), SqlOldService(f"sqlite:///{path}"), "operator")

    assert result.revision is None
    assert Kind.NO_REVISION in {each.kind for each in result.plan.ledger.findings}


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DROP TABLE computehost_trait", "computehost_trait"),
        ("ALTER TABLE leases DROP COLUMN trust_id", "leases.trust_id"),
    ],
)
def test_what_lacks_a_table_or_a_column_is_refused(path: Path, statement: str, what: str) -> None:
    execute(path, "DELETE FROM alembic_version", statement)

    assert refusal(path).endswith(f"it has no {what}")


def test_our_own_database_is_refused(sqlite: sa.Engine) -> None:
    with pytest.raises(CannotImport, match=f"but {NEEDED_REVISION} is required"):
        SqlOldService(url_of(sqlite)).read()


def test_a_file_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    assert "cannot be read: unable to open database file" in refusal(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["", "leases", "oracle://x", "nonsense://host/x"])
def test_what_is_no_url_of_a_database_is_said_to_be_none(url: str) -> None:
    with pytest.raises(CannotImport, match="--from"):
        SqlOldService(url)


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    service = SqlOldService("mysql://blazar:secret@127.0.0.1:1/blazar")

    with pytest.raises(CannotImport, match="cannot be read") as caught:
        service.read()
    assert "secret" not in str(caught.value) + service.name
    assert service.name == "mysql+pymysql://blazar:***@127.0.0.1:1/blazar"


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_urls_need_to_name_no_driver(kind: str, tmp_path: Path, installation: OldInstallation) -> None:
    installation.host(1)
    with make_empty_database(kind, tmp_path) as engine:
        old_schema.write(url_of(engine), installation.rows)
        scheme = {"mariadb": "mysql", "postgresql": "postgresql"}[kind]

        found = SqlOldService(f"{scheme}://{url_of(engine).partition('://')[2]}").read()

    assert [each.id for each in found.hosts] == ["1"]


def test_a_plugin_that_is_not_named_is_said_to_lack_before_anything_is_written(
    installation: OldInstallation,
    write_old: Callable[[OldInstallation], SqlOldService],
    context_on: ContextOn,
    sqlite: sa.Engine,
) -> None:
    installation.host(1)
    installation.lease("a", installation.now, installation.now, hosts("1"), status="PENDING")
    context = context_on(sqlite)
    del context.plugins["physical:host"]  # type: ignore[attr-defined]

    with pytest.raises(CannotImport, match=r"\[manager\] plugins: there are reservations of physical:host"):
        import_database(context, write_old(installation), "operator")

    with context.store.read() as transaction:
        assert transaction.of(HOST_STORE).list() == ()
