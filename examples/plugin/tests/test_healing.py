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
from blazar_plugin_testing import PluginEnv
from blazar_plugin_testing.service_env import LESSEE


@pytest.fixture
def env(tmp_path: Path) -> Iterator[PluginEnv]:
    engine = make_engine(f"sqlite:///{tmp_path / 'blazar.sqlite'}")
    upgrade(engine)
    yield PluginEnv(engine, LicenceHarness)
    engine.dispose()


def harness_of(env: PluginEnv) -> LicenceHarness:
    assert isinstance(env.harness, LicenceHarness)
    return env.harness


def grants(env: PluginEnv) -> dict[str, int]:
    """Return the number of seats granted to reservations, by pool."""
    return {each["pool"]: each["seats"] for each in harness_of(env).ledger.list_grants("blazar:")}


def set_pool(env: PluginEnv, name: str, seats: int, state: str = "open") -> None:
    """Change a pool, and let the service discover the change."""
    harness_of(env).ledger.put_pool(name, "cad", seats, state, "says the test")
    discover_resources(env.manager.context, "operator")


def use(env: PluginEnv, seats: int) -> None:
    """Use seats of the only grant."""
    (grant,) = harness_of(env).ledger.list_grants("blazar:")
    harness_of(env).ledger.use(grant["id"], "desk", seats)


def active(env: PluginEnv, seats: int) -> LeaseId:
    lease = env.create("a", 1, 4, {"seats": seats})
    env.at(1.5)
    return lease


def test_a_lease_shows_its_grants_once_they_exist(env: PluginEnv) -> None:
    lease = env.create("a", 1, 4)
    assert env.shown(lease)["grants"] == []

    env.at(1.5)

    reservation_id = env.lease(lease).reservations[0].id
    assert env.shown(lease)["grants"] == [f"blazar:{reservation_id}:{pool}" for pool in ("site", "spare")]


def test_a_lease_ahead_leaves_a_pool_that_is_revoked(env: PluginEnv) -> None:
    lease = env.create("a", 1, 4, {"seats": 3})

    set_pool(env, "spare", 5, "revoked")
    env.at(1.5)

    assert grants(env) == {"site": 3}
    assert not env.lease(lease).is_degraded


def test_a_lease_that_runs_is_given_other_seats_for_those_revoked(env: PluginEnv) -> None:
    lease = active(env, 3)
    assert grants(env) == {"spare": 3}

    set_pool(env, "spare", 5, "revoked")
    env.run_until(1.7)

    assert grants(env) == {"site": 3}
    assert env.lease(lease).is_degraded  # its seats were revoked and replaced


def test_seats_that_are_in_use_are_not_moved(env: PluginEnv) -> None:
    lease = active(env, 3)
    use(env, 2)

    set_pool(env, "spare", 5, "revoked")
    env.run_until(1.7)

    assert grants(env) == {"spare": 3}
    assert env.lease(lease).reservations[0].missing_resources


def test_a_closed_pool_goes_on_serving(env: PluginEnv) -> None:
    lease = active(env, 3)

    set_pool(env, "spare", 5, "closed")
    env.update(lease, end=6)
    env.at(5)

    assert grants(env) == {"spare": 3}


def test_an_extension_interrupts_no_users(env: PluginEnv) -> None:
    lease = active(env, 3)
    use(env, 2)

    env.update(lease, end=6)
    env.at(5)

    (grant,) = harness_of(env).ledger.list_grants("blazar:")
    assert (grant["in_use"], grant["until"]) == (2, env.instant(6).isoformat())


def test_a_pool_that_was_used_up_by_hand_is_replaced_at_the_start(env: PluginEnv) -> None:
    env.create("a", 1, 4, {"seats": 3})
    until = env.instant(9).isoformat()
    harness_of(env).ledger.put_grant("by-hand", "spare", "another-project", 4, until)

    env.at(1.5)

    assert grants(env) == {"site": 3}


def test_more_seats_are_waited_for_and_no_users_are_moved(env: PluginEnv) -> None:
    lease = active(env, 3)
    until = env.instant(9).isoformat()
    harness_of(env).ledger.put_grant("by-hand", "spare", "another-project", 2, until)

    env.change(lease, {"seats": 5})
    env.run_until(1.7)
    assert grants(env) == {"spare": 3}
    harness_of(env).ledger.delete_grant("by-hand")

    env.at(2)
    assert grants(env) == {"spare": 5}


def test_an_active_reservation_releases_only_unused_seats(env: PluginEnv) -> None:
    lease = active(env, 5)
    use(env, 4)

    with pytest.raises(CannotChange, match="seats: 4 of the reservation are in use"):
        env.change(lease, {"seats": 2})
    env.change(lease, {"seats": 4})
    env.at(1.8)

    assert grants(env) == {"spare": 4}
    assert env.manager.service.create_lease(LESSEE, env.body("b", 2, 3, {"seats": 11}))
    with pytest.raises(Conflict):
        env.manager.service.create_lease(LESSEE, env.body("c", 2, 3, {"seats": 1}))


def test_users_are_told_before_the_end_once_for_each_end(env: PluginEnv) -> None:
    lease = active(env, 3)
    env.at(3.7)
    (grant,) = harness_of(env).ledger.list_grants("blazar:")
    assert grant["notice"] == env.instant(3.5).isoformat()

    env.update(lease, end=6)
    env.at(3.8)
    (grant,) = harness_of(env).ledger.list_grants("blazar:")

    assert (grant["notice"], grant["until"]) == (None, env.instant(6).isoformat())
