"""What a lost reservation of floating IPs left goes by a sweep, and nothing else does."""

from __future__ import annotations

import pytest
from reconcile.floatingips import address, existing, floatingips, put
from reconcile.lab import Lab
from reconcile.leftovers import INTERVAL, LOST, OTHER
from reconcile.parts import Conditions
from reconcile.slot_scenarios import forget
from samples import know_a_lease

from blazar.reconcile.periodic.floatingip_check import check_floatingips
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CloudUnavailable
from blazar.plugins.floatingips.names import tags_of
from blazar.ports.network import FloatingIP
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
    """Have a floating IP with these tags."""
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


def test_an_address_that_a_lost_lease_left_is_promised_to_nobody_until_it_is_swept(lab: Lab) -> None:
    lease = lab.create("a", 0, 9, floatingips(lab, 1, 1))
    lab.at(0.1)
    forget(lab, lease)

    assert check_floatingips(lab.manager.context, "manager").keys() == {address(1)}
    sweep_twice(lab)
    assert check_floatingips(lab.manager.context, "manager") == {}
