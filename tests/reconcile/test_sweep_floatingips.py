"""A sweep removes the floating IPs of a lost reservation and nothing else."""

from __future__ import annotations

import pytest
from reconcile.floatingips import address, existing, floatingips, put, subnet_of
from reconcile.lab import Lab
from reconcile.leftovers import INTERVAL, LOST, OTHER
from reconcile.parts import Conditions
from reconcile.slot_scenarios import forget
from samples import know_a_lease

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudUnavailable
from blazar.plugins.floatingips.names import reservation_tag, tags_of
from blazar.ports.network import FloatingIP
from blazar.reconcile.periodic.floatingip_check import check_floatingips
from blazar.reconcile.sweep import Sweepings, sweep


@pytest.fixture(autouse=True)
def three_floatingips(lab: Lab) -> None:
    lab.reset(Conditions(floatingips=3))
    know_a_lease(lab.store)


def sweep_once(lab: Lab) -> Sweepings:
    return sweep(lab.manager.context, "manager")


def sweep_twice(lab: Lab) -> Sweepings:
    sweep_once(lab)
    lab.clock.advance(INTERVAL)
    return sweep_once(lab)


def leave(lab: Lab, number: int = 1, tags: frozenset[str] = tags_of(LOST)) -> FloatingIP:
    """Create a floating IP with these tags."""
    found = put(lab, number)
    lab.cloud.networks.set_floating_ip_tags(found.id, tags)
    return found


@pytest.mark.parametrize("is_attached", [True, False])
def test_it_goes_when_it_is_seen_the_second_time_attached_or_not(lab: Lab, is_attached: bool) -> None:
    found = leave(lab)
    if is_attached:
        lab.cloud.attach_floating_ip(found.id, "port")

    first = sweep_once(lab)

    assert first == Sweepings(found=(f"floatingip:{found.id}",), removed=())
    assert existing(lab).keys() == {address(1)}
    lab.clock.advance(INTERVAL)
    assert sweep_once(lab).removed == (f"floatingip:{found.id}",)
    assert not existing(lab)


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
def test_what_does_not_bear_the_mark_of_one_reservation_stays(lab: Lab, tags: frozenset[str]) -> None:
    leave(lab, tags=tags)

    assert sweep_twice(lab) == Sweepings(found=(), removed=())
    assert existing(lab).keys() == {address(1)}


def test_one_that_was_created_late_and_has_no_tags_is_known_by_its_description(lab: Lab) -> None:
    lease = lab.create("a", 0, 1, floatingips(lab, 1, 1))
    lab.at(0.1)
    before = existing(lab)[address(1)]
    lab.run_until(1.1)
    assert not existing(lab)

    late = lab.cloud.networks.create_floating_ip(*subnet_of(lab), address(1), "project", before.description)

    assert before.description == reservation_tag(lab.lease(lease).reservations[0].id)
    assert sweep_twice(lab).removed == (f"floatingip:{late.id}",)
    assert not existing(lab)


def test_a_description_means_nothing_at_an_address_that_is_not_registered_or_is_held(lab: Lab) -> None:
    lab.create("a", 0, 9, floatingips(lab, 1, 1))
    lab.at(0.1)
    held = existing(lab)[address(1)]
    lab.cloud.networks.set_floating_ip_tags(held.id, frozenset())
    lab.cloud.networks.create_floating_ip(*subnet_of(lab), address(50), "project", f"reservation:{LOST}")

    assert sweep_twice(lab) == Sweepings(found=(), removed=())


def test_what_a_lease_has_stays_until_the_lease_is_lost(lab: Lab) -> None:
    lease = lab.create("a", 0, 9, floatingips(lab, 2))
    lab.at(0.1)

    assert sweep_twice(lab).found == ()
    forget(lab, lease)
    assert len(sweep_twice(lab).removed) == 2
    assert not existing(lab)


def test_neutron_is_not_asked_where_nothing_is_registered(lab: Lab) -> None:
    lab.reset(Conditions())
    lab.faults.add(FaultRule(kind=FaultKind.STATUS, operation="networks.*"))

    assert sweep_twice(lab) == Sweepings(found=(), removed=())


def test_a_failure_is_made_up_for(lab: Lab) -> None:
    found = leave(lab)
    sweep_once(lab)
    lab.clock.advance(INTERVAL)
    lab.faults.add(FaultRule(kind=FaultKind.STATUS, operation="networks.delete_floating_ip"))
    with pytest.raises(CloudUnavailable):
        sweep_once(lab)
    lab.faults.clear()

    assert sweep_once(lab).removed == (f"floatingip:{found.id}",)


def test_what_its_owner_deletes_at_the_same_time_is_no_failure(lab: Lab) -> None:
    found = leave(lab)
    sweep_once(lab)
    lab.clock.advance(INTERVAL)
    networks = lab.cloud.networks
    lab.faults.before("networks.delete_floating_ip", lambda: networks.delete_floating_ip(found.id))

    assert sweep_once(lab).removed == (f"floatingip:{found.id}",)


def test_an_address_left_by_a_lost_lease_is_not_allocated_until_swept(lab: Lab) -> None:
    lease = lab.create("a", 0, 9, floatingips(lab, 1, 1))
    lab.at(0.1)
    forget(lab, lease)

    assert check_floatingips(lab.manager.context, "manager").keys() == {address(1)}
    sweep_twice(lab)
    assert check_floatingips(lab.manager.context, "manager") == {}
