"""Checks of the state at the end of the day; each violation raises AssertionError."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from faults.aftermath import Aftermath
from faults.client import Client

from bench.day.figures import Figures
from bench.day.lateness import Late, read_lateness
from bench.day.site import Site
from blazar.cloud.simulated.cloud import PLAIN_FLAVOR
from blazar.db import tables
from cloudlab.errors import LabError
from cloudlab.waiting import wait_until

_HANDS: Final = 4
_PATIENCE_SECONDS: Final = 240
_OF_USERS: Final = PLAIN_FLAVOR.id
"""The flavor that users of the cloud make when they first boot a server."""
_OUTLIVING: Final = ("type_quotas",)
"""Tables of the cloud whose rows outlive the objects that they are about, as in the real services."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Results of the checks."""

    settled_seconds: float
    """Real time from the end of the day until everything was as it must be."""
    waited_for: str
    """What failed last before that; empty if nothing did."""
    leases: Mapping[str, int]
    """The numbers of leases at the end of the day, by status."""
    late: Sequence[Late]
    """The starts and ends of all leases that existed at the end of the day."""


def cloud_objects(site: Site) -> Mapping[str, frozenset[str]]:
    """Return the keys of all objects in the cloud, by table."""
    state = site.control.state()
    return {
        name: frozenset(_keys(rows)) - {_OF_USERS}
        for name, rows in state.items()
        if isinstance(rows, list | dict) and name not in _OUTLIVING
    }


def check_end(site: Site, figures: Figures, before: Mapping[str, frozenset[str]]) -> Outcome:
    """Check the settled state and the mail; then delete all leases and compare the cloud with *before*.

    Args:
        site: The site; users and operators have finished, and all processes run.
        figures: The answers.
        before: The objects in the cloud before the first lease.

    Raises:
        AssertionError: Something is reserved twice, stuck, leaked or lost, or an answer was wrong.
    """
    assert not figures.problems, figures.problems[:5]
    aftermath = Aftermath(site.engine, site.control, site.notices, site.clock)
    settled = aftermath.wait_until_settled(figures.promises)
    waited_for = aftermath.last_problem
    leases, late = _statuses(site.engine), read_lateness(site.engine)
    wait_for_mail(site, figures)
    _delete_all(site, aftermath)
    after = cloud_objects(site)
    left = {name: sorted(after[name] ^ before.get(name, frozenset())) for name in after}
    left = {name: keys[:5] for name, keys in left.items() if keys}
    assert not left, f"the cloud differs from that before the day: {left}"
    return Outcome(settled_seconds=settled, waited_for=waited_for, leases=leases, late=late)


def wait_for_mail(site: Site, figures: Figures) -> None:
    """Return when each user has the mail about the starts and ends of leases, and no mail waits."""

    def missing() -> Sequence[object]:
        about = site.mailbox.about
        wanted = set(_expected_mail(site.engine, figures))
        return [*(wanted - about.keys()), *_undelivered(site.engine)][:5]

    try:
        wait_until(lambda: not missing(), "all mail has arrived", seconds=_PATIENCE_SECONDS, every_seconds=1)
    except LabError as error:
        raise AssertionError(f"mail is missing: {missing()}") from error
    assert not site.mailbox.misdirected, site.mailbox.misdirected[:5]


def _expected_mail(engine: sa.Engine, figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield the name of the lease and the type of the notice for each start and end in the journal."""
    query = sa.select(tables.journal.c.lease_id, tables.journal.c.reason).where(
        tables.journal.c.event == "lease.status"
    )
    with engine.connect() as connection:
        for lease_id, reason in connection.execute(query):
            name = figures.names.get(lease_id)
            if name is not None:
                status = reason.partition(" -> ")[2].partition(":")[0]
                kind = {"ACTIVE": "lease.started", "TERMINATED": "lease.ended"}.get(status)
                if kind is not None:
                    yield name, kind


def _undelivered(engine: sa.Engine) -> list[str]:
    with engine.connect() as connection:
        waiting = connection.execute(sa.select(tables.deliveries.c.type, tables.deliveries.c.problem)).all()
        events = connection.execute(sa.select(tables.notices.c.type)).all()
    return [*(f"{each.type}: {each.problem}" for each in waiting), *(str(each.type) for each in events)]


def _statuses(engine: sa.Engine) -> Mapping[str, int]:
    status = tables.leases.c.status
    with engine.connect() as connection:
        rows = connection.execute(sa.select(status, sa.func.count()).group_by(status)).all()
    return {str(name): int(count) for name, count in rows}


def _delete_all(site: Site, aftermath: Aftermath) -> None:
    def delete(part: Sequence[Mapping[str, Any]]) -> None:
        with closing(Client(site.gateway, "user-1")) as client:
            for each in part:
                client.ask("DELETE", f"/leases/{each['id']}")

    with closing(Client(site.gateway, "user-1")) as client, ThreadPoolExecutor(_HANDS) as pool:
        # A request to a paused manager may have been carried out late.
        while leases := client.get("/leases", "leases"):
            list(pool.map(delete, [leases[number::_HANDS] for number in range(_HANDS)]))
            aftermath.wait_until_settled()
    assert aftermath.leases() == ()


def _keys(rows: object) -> Iterator[str]:
    if isinstance(rows, Mapping):
        yield from (str(each) for each in rows)
    elif isinstance(rows, Sequence):
        for each in rows:
            if isinstance(each, Mapping):
                yield str(each.get("id") or each.get("uuid") or each.get("name") or sorted(each.items()))
            else:
                yield str(each)
