"""State of a Galera cluster after a run: all nodes agree, and no resource is allocated twice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import sqlalchemy as sa

from blazar.db import tables
from blazar.db.engine import make_engine
from cloudlab.waiting import wait_until
from rig import galera
from rig.installation import Installation

_SECONDS_TO_AGREE = 30
_CONFLICTS = ("wsrep_local_cert_failures", "wsrep_local_bf_aborts")
_OVERLAPS = (
    "SELECT COUNT(*) FROM allocations a JOIN allocations b ON a.resource_id = b.resource_id AND a.id < b.id"
    " WHERE a.exclusive_resource_id IS NOT NULL AND b.exclusive_resource_id IS NOT NULL"
    " AND a.start_at < b.end_at AND b.start_at < a.end_at"
)


def conflicts(installation: Installation) -> int:
    """Return how many transactions the nodes have refused or aborted since their start."""
    if installation.wanted.database != "galera":
        return 0
    found = [galera.status(installation.plan, node) for node in galera.NODES]
    return sum(int(each.get(name, 0)) for each in found for name in _CONFLICTS)


def check_nodes(installation: Installation) -> None:
    """Check that all nodes have the same rows in all tables, without overlapping allocations.

    Other databases than Galera are not checked.

    Raises:
        AssertionError: The nodes differ, or allocations overlap.
    """
    if installation.wanted.database != "galera":
        return
    engines = {
        node: make_engine(url) for node, url in zip(galera.NODES, installation.database_urls, strict=True)
    }
    try:
        with _paused(installation):
            wait_until(
                lambda: len({_fingerprint(each) for each in engines.values()}) == 1,
                "all nodes have the same rows",
                seconds=_SECONDS_TO_AGREE,
                explain=lambda: _differences(engines),
            )
        for node, engine in engines.items():
            with engine.connect() as connection:
                overlaps = connection.exec_driver_sql(_OVERLAPS).scalar_one()
            assert overlaps == 0, f"{overlaps} overlaps on {node}"
    finally:
        for each in engines.values():
            each.dispose()


@contextmanager
def _paused(installation: Installation) -> Iterator[None]:
    """Pause all managers inside the block."""
    for each in installation.managers:
        each.pause()
    try:
        yield
    finally:
        for each in installation.managers:
            each.resume()


def _contents(engine: sa.Engine) -> Mapping[str, str]:
    """Return a digest of the rows of each table."""
    digests = {}
    with engine.connect() as connection:
        for table in tables.metadata.sorted_tables:
            query = sa.select(table).order_by(*table.primary_key.columns)
            digest = hashlib.sha256()
            for row in connection.execute(query):
                digest.update(repr(tuple(row)).encode())
            digests[table.name] = digest.hexdigest()
    return digests


def _fingerprint(engine: sa.Engine) -> str:
    return repr(_contents(engine))


def _differences(engines: Mapping[str, sa.Engine]) -> str:
    contents = {node: _contents(engine) for node, engine in engines.items()}
    names = next(iter(contents.values()))
    differing = [name for name in names if len({each[name] for each in contents.values()}) > 1]
    return f"they differ in {', '.join(differing)}"
