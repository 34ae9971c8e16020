"""A sweep removes the floating IPs of a lost reservation and nothing else."""

from __future__ import annotations

import pytest
from reconcile.floatingips import address, existing, floatingips, put, subnet_of
from reconcile.leftovers import INTERVAL, LOST, OTHER
from reconcile.parts import Conditions
from reconcile.reconciler_env import ReconcilerEnv
from reconcile.slot_scenarios import forget
from samples import know_a_lease

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudUnavailable
from blazar.plugins.floatingips.check import check_floatingips
from blazar.plugins.neutron_tags import reservation_tag, tags_of
from blazar.ports.network import FloatingIP
from blazar.reconcile.sweep import Sweepings, sweep


@pytest.fixture(autouse=True)
def three_floatingips(env: ReconcilerEnv) -> None:
    env.reset(Conditions(floatingips=3))
    know_a_lease(env.store)


def sweep_once(env: ReconcilerEnv) -> Sweepings:
    return sweep(env.manager.context, "manager")


def sweep_twice(env: ReconcilerEnv) -> Sweepings:
    sweep_once(env)
    env.clock.advance(INTERVAL)
    return sweep_once(env)


def leave(env: ReconcilerEnv, number: int = 1, tags: frozenset[str] = tags_of(LOST)) -> FloatingIP:
    """Create a floating IP with these tags."""
    found = put(env, number)
    env.cloud.networks.set_floating_ip_tags(found.id, tags)
    return found


@pytest.mark.parametrize("is_attached", [True, False])
def test_it_goes_when_it_is_seen_the_second_time_attached_or_not(
    env: ReconcilerEnv, is_attached: bool
) -> None:
    found = leave(env)
    if is_attached:
        env.cloud.attach_floating_ip(found.id, "port")

    first = sweep_once(env)

    assert first == Sweepings(found=(f"floatingip:{found.id}",), removed=())
    assert existing(env).keys() == {address(1)}
    env.clock.advance(INTERVAL)
    assert sweep_once(env).removed == (f"floatingip:{found.id}",)
    assert not existing(env)


def test_it_goes_with_its_port_forwardings(env: ReconcilerEnv) -> None:
    found = leave(env)
    env.cloud.forward_port(found.id)

    assert sweep_twice(env).removed == (f"floatingip:{found.id}",)
    assert not existing(env)


@pytest.mark.parametrize(
    "tags",
    [
        frozenset(),
        frozenset({"blazar"}),
        frozenset({f"reservation:{LOST}"}),
        frozenset({"blazar", "reservation:mine"}),
        frozenset({"blazar", f"reservation:{LOST.upper()}"}),
        tags_of(LOST) | tags_of(OTHER),
    ],
    ids=lambda tags: " ".join(sorted(tags)) or "none",
)
def test_what_does_not_bear_the_mark_of_one_reservation_stays(
    env: ReconcilerEnv, tags: frozenset[str]
) -> None:
    leave(env, tags=tags)

    assert sweep_twice(env) == Sweepings(found=(), removed=())
    assert existing(env).keys() == {address(1)}


def test_one_that_was_created_late_and_has_no_tags_is_known_by_its_description(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 1, floatingips(env, 1, 1))
    env.at(0.1)
    before = existing(env)[address(1)]
    env.run_until(1.1)
    assert not existing(env)

    late = env.cloud.networks.create_floating_ip(*subnet_of(env), address(1), "project", before.description)

    assert before.description == reservation_tag(env.lease(lease).reservations[0].id)
    assert sweep_twice(env).removed == (f"floatingip:{late.id}",)
    assert not existing(env)


def test_a_description_means_nothing_at_an_address_that_is_not_registered_or_is_held(
    env: ReconcilerEnv,
) -> None:
    env.create("a", 0, 9, floatingips(env, 1, 1))
    env.at(0.1)
    held = existing(env)[address(1)]
    env.cloud.networks.set_floating_ip_tags(held.id, frozenset())
    env.cloud.networks.create_floating_ip(*subnet_of(env), address(50), "project", f"reservation:{LOST}")

    assert sweep_twice(env) == Sweepings(found=(), removed=())


def test_what_a_lease_has_stays_until_the_lease_is_lost(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 9, floatingips(env, 2))
    env.at(0.1)

    assert sweep_twice(env).found == ()
    forget(env, lease)
    assert len(sweep_twice(env).removed) == 2
    assert not existing(env)


def test_neutron_is_not_asked_where_nothing_is_registered(env: ReconcilerEnv) -> None:
    env.reset(Conditions())
    env.faults.add(FaultRule(kind=FaultKind.STATUS, operation="networks.*"))

    assert sweep_twice(env) == Sweepings(found=(), removed=())


def test_a_failure_is_made_up_for(env: ReconcilerEnv) -> None:
    found = leave(env)
    sweep_once(env)
    env.clock.advance(INTERVAL)
    env.faults.add(FaultRule(kind=FaultKind.STATUS, operation="networks.delete_floating_ip"))
    with pytest.raises(CloudUnavailable):
        sweep_once(env)
    env.faults.clear()

    assert sweep_once(env).removed == (f"floatingip:{found.id}",)


def test_what_its_owner_deletes_at_the_same_time_is_no_failure(env: ReconcilerEnv) -> None:
    found = leave(env)
    sweep_once(env)
    env.clock.advance(INTERVAL)
    networks = env.cloud.networks
    env.faults.before("networks.delete_floating_ip", lambda: networks.delete_floating_ip(found.id))

    assert sweep_once(env).removed == (f"floatingip:{found.id}",)


def test_an_address_left_by_a_lost_lease_is_not_allocated_until_swept(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 9, floatingips(env, 1, 1))
    env.at(0.1)
    forget(env, lease)

    assert check_floatingips(env.manager.context, "manager").keys() == {address(1)}
    sweep_twice(env)
    assert check_floatingips(env.manager.context, "manager") == {}
