"""Reservations whose pools are closed, revoked, or used by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from licences import LicenceHarness

from blazar.db.engine import make_engine
from blazar.db.schema import upgrade
from blazar.domain.errors import CannotChange, Conflict
from blazar.domain.lease import LeaseId
from blazar.reconcile.periodic.discovery import discover_resources
from blazar_plugin_testing import Place
from blazar_plugin_testing.site import LESSEE


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    engine = make_engine(f"sqlite:///{tmp_path / 'blazar.sqlite'}")
    upgrade(engine)
    yield Place(engine, LicenceHarness)
    engine.dispose()


def harness_of(place: Place) -> LicenceHarness:
    assert isinstance(place.harness, LicenceHarness)
    return place.harness


def grants(place: Place) -> dict[str, int]:
    """Return the number of seats granted to reservations, by pool."""
    return {each["pool"]: each["seats"] for each in harness_of(place).ledger.list_grants("blazar:")}


def set_pool(place: Place, name: str, seats: int, state: str = "open") -> None:
    """Change a pool, and let the service discover the change."""
    harness_of(place).ledger.put_pool(name, "cad", seats, state, "says the test")
    discover_resources(place.manager.context, "operator")


def use(place: Place, seats: int) -> None:
    """Use seats of the only grant."""
    (grant,) = harness_of(place).ledger.list_grants("blazar:")
    harness_of(place).ledger.use(grant["id"], "desk", seats)


def active(place: Place, seats: int) -> LeaseId:
    lease = place.create("a", 1, 4, {"seats": seats})
    place.at(1.5)
    return lease


def test_a_lease_shows_its_grants_once_they_exist(place: Place) -> None:
    lease = place.create("a", 1, 4)
    assert place.shown(lease)["grants"] == []

    place.at(1.5)

    reservation_id = place.lease(lease).reservations[0].id
    assert place.shown(lease)["grants"] == [f"blazar:{reservation_id}:{pool}" for pool in ("site", "spare")]


def test_a_lease_ahead_leaves_a_pool_that_is_revoked(place: Place) -> None:
    lease = place.create("a", 1, 4, {"seats": 3})

    set_pool(place, "spare", 5, "revoked")
    place.at(1.5)

    assert grants(place) == {"site": 3}
    assert not place.lease(lease).is_degraded


def test_a_lease_that_runs_is_given_other_seats_for_those_revoked(place: Place) -> None:
    lease = active(place, 3)
    assert grants(place) == {"spare": 3}

    set_pool(place, "spare", 5, "revoked")
    place.run_until(1.7)

    assert grants(place) == {"site": 3}
    assert place.lease(lease).is_degraded  # its seats were revoked and replaced


def test_seats_that_are_in_use_are_not_moved(place: Place) -> None:
    lease = active(place, 3)
    use(place, 2)

    set_pool(place, "spare", 5, "revoked")
    place.run_until(1.7)

    assert grants(place) == {"spare": 3}
    assert place.lease(lease).reservations[0].missing_resources


def test_a_closed_pool_goes_on_serving(place: Place) -> None:
    lease = active(place, 3)

    set_pool(place, "spare", 5, "closed")
    place.update(lease, end=6)
    place.at(5)

    assert grants(place) == {"spare": 3}


def test_an_extension_interrupts_no_users(place: Place) -> None:
    lease = active(place, 3)
    use(place, 2)

    place.update(lease, end=6)
    place.at(5)

    (grant,) = harness_of(place).ledger.list_grants("blazar:")
    assert (grant["in_use"], grant["until"]) == (2, place.instant(6).isoformat())


def test_a_pool_that_was_used_up_by_hand_is_replaced_at_the_start(place: Place) -> None:
    place.create("a", 1, 4, {"seats": 3})
    until = place.instant(9).isoformat()
    harness_of(place).ledger.put_grant("by-hand", "spare", "another-project", 4, until)

    place.at(1.5)

    assert grants(place) == {"site": 3}


def test_more_seats_are_waited_for_and_no_users_are_moved(place: Place) -> None:
    lease = active(place, 3)
    until = place.instant(9).isoformat()
    harness_of(place).ledger.put_grant("by-hand", "spare", "another-project", 2, until)

    place.change(lease, {"seats": 5})
    place.run_until(1.7)
    assert grants(place) == {"spare": 3}
    harness_of(place).ledger.delete_grant("by-hand")

    place.at(2)
    assert grants(place) == {"spare": 5}


def test_an_active_reservation_releases_only_unused_seats(place: Place) -> None:
    lease = active(place, 5)
    use(place, 4)

    with pytest.raises(CannotChange, match="seats: 4 of the reservation are in use"):
        place.change(lease, {"seats": 2})
    place.change(lease, {"seats": 4})
    place.at(1.8)

    assert grants(place) == {"spare": 4}
    assert place.manager.service.create_lease(LESSEE, place.body("b", 2, 3, {"seats": 11}))
    with pytest.raises(Conflict):
        place.manager.service.create_lease(LESSEE, place.body("c", 2, 3, {"seats": 1}))


def test_users_are_told_before_the_end_once_for_each_end(place: Place) -> None:
    lease = active(place, 3)
    place.at(3.7)
    (grant,) = harness_of(place).ledger.list_grants("blazar:")
    assert grant["notice"] == place.instant(3.5).isoformat()

    place.update(lease, end=6)
    place.at(3.8)
    (grant,) = harness_of(place).ledger.list_grants("blazar:")

    assert (grant["notice"], grant["until"]) == (None, place.instant(6).isoformat())
