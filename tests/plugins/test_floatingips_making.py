"""Creation and deletion of floating IPs in Neutron; those of others are never touched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from plugin_cases import CASES, NETWORK, PROJECT, RESERVATION, assignment_of, new_cloud

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.errors import CannotChange, CloudUnavailable
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment, Done, Outcome, Refused, Unusable, Waiting
from blazar.plugins.floatingips.items import FloatingIPItem, Kind
from blazar.plugins.floatingips.plugin import FloatingIPs
from blazar.plugins.floatingips.spec import FloatingIPSpec
from blazar.ports.network import FloatingIP

TAGS = frozenset({"blazar", f"reservation:{RESERVATION}"})
OTHERS_TAGS = frozenset({"blazar", "reservation:99999999-2222-4333-8444-555555555555"})


class Stage:
    """A running reservation of two addresses without any items."""

    def __init__(self) -> None:
        self.cloud = new_cloud()
        self.networks = self.cloud.networks
        self.plugin = FloatingIPs()
        case = CASES["virtual:floatingip"]
        resources = case.furnish(self.cloud)
        self.assignment: Assignment[FloatingIPSpec] = assignment_of(self.plugin, case, resources)
        self.subnet_id = str(resources[0].facts["subnet_id"])
        self.first, self.second = (str(each.facts["address"]) for each in resources[:2])

    def put(self, address: str, project_id: str = PROJECT, tags: frozenset[str] = frozenset()) -> FloatingIP:
        """Create a floating IP that does not belong to the reservation."""
        made = self.networks.create_floating_ip(NETWORK, self.subnet_id, address, project_id)
        self.networks.set_floating_ip_tags(made.id, tags)
        return replace(made, tags=tags)

    def at(self, address: str) -> FloatingIP | None:
        found = self.networks.list_floating_ips(network_id=NETWORK, addresses=[address])
        return found[0] if found else None

    def item(self, kind: Kind = Kind.ADDRESS, number: int = 0) -> FloatingIPItem:
        resource = self.assignment.resources[number]
        return FloatingIPItem(kind, resource.id, NETWORK, str(resource.facts["address"]))

    def items(self, phase: Phase = Phase.RUNNING) -> frozenset[FloatingIPItem]:
        return self.plugin.observe(self.cloud, self.assignment, phase).items

    def make(self, kind: Kind = Kind.ADDRESS) -> Outcome:
        """Make an item of the first address."""
        seen = self.plugin.observe(self.cloud, self.assignment, Phase.RUNNING)
        return self.plugin.make(self.cloud, self.assignment, self.item(kind), seen)

    def make_all(self) -> None:
        for item in sorted(self.plugin.wanted(self.assignment, Phase.RUNNING)):
            seen = self.plugin.observe(self.cloud, self.assignment, Phase.RUNNING)
            assert self.plugin.make(self.cloud, self.assignment, item, seen) == Done()

    def end(self) -> None:
        """Remove all observed items after the end."""
        seen = self.plugin.observe(self.cloud, self.assignment, Phase.OVER)
        for item in sorted(seen.items, reverse=True):
            assert self.plugin.remove(self.cloud, self.assignment, item, seen) == Done()

    def fail(self, operation: str, **rule: Any) -> None:
        self.cloud.faults.add(FaultRule(operation=operation, nth=1, **rule))


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_addresses_appear_in_the_lessees_project_with_both_tags(stage: Stage) -> None:
    stage.make_all()

    for address in (stage.first, stage.second):
        found = stage.at(address)
        assert found is not None
        assert (found.project_id, found.tags, found.port_id) == (PROJECT, TAGS, None)
    assert stage.items() == stage.plugin.wanted(stage.assignment, Phase.RUNNING)


@pytest.mark.parametrize("is_attached", [False, True])
def test_they_go_at_the_end_attached_or_not(stage: Stage, is_attached: bool) -> None:
    stage.make_all()
    found = stage.at(stage.first)
    assert found is not None
    if is_attached:
        stage.cloud.attach_floating_ip(found.id, "port")

    stage.end()

    assert stage.networks.list_floating_ips() == ()
    assert stage.cloud.calls["networks.detach_floating_ip"] == int(is_attached)


@pytest.mark.parametrize(
    ("project_id", "tags"),
    [
        ("stranger", frozenset()),
        ("stranger", TAGS),
        ("stranger", OTHERS_TAGS),
    ],
)
def test_weakness_32_what_somebody_else_has_at_an_address_is_never_touched(
    stage: Stage, project_id: str, tags: frozenset[str]
) -> None:
    other = stage.put(stage.first, project_id, tags)

    outcome = stage.make()
    stage.end()

    assert isinstance(outcome, Unusable)
    assert not outcome.is_final
    assert f"floating IP {other.id} of project {project_id}" in outcome.reason
    assert stage.at(stage.first) == other
    assert stage.items() == frozenset()


def test_weakness_32_before_its_start_a_reservation_has_nothing(stage: Stage) -> None:
    other = stage.put(stage.first)
    stage.assignment = replace(stage.assignment, has_begun=False)

    for phase in (Phase.AHEAD, Phase.PREPARING, Phase.OVER):
        assert stage.items(phase) == frozenset()
    stage.end()

    assert stage.at(stage.first) == other


@pytest.mark.parametrize("kind", [FaultKind.LOSE_REPLY, FaultKind.STATUS])
def test_what_was_made_but_not_tagged_is_tagged_the_next_time(stage: Stage, kind: FaultKind) -> None:
    stage.fail("networks.create_floating_ip", kind=kind)
    with pytest.raises(CloudUnavailable):
        stage.make()
    assert stage.items() == ({stage.item()} if kind is FaultKind.LOSE_REPLY else set())

    stage.make_all()

    found = stage.at(stage.first)
    assert found is not None
    assert found.tags == TAGS


def test_what_was_made_but_not_tagged_goes_at_the_end(stage: Stage) -> None:
    stage.put(stage.first)

    stage.end()

    assert stage.at(stage.first) is None


def test_what_the_lessee_did_to_the_tags_does_not_keep_the_address(stage: Stage) -> None:
    stage.put(stage.first, tags=frozenset({"mine"}))
    stage.put(stage.second, tags=TAGS - {"blazar"})

    assert stage.items() == {stage.item(), stage.item(number=1)}
    stage.make_all()
    tags = {each.address: each.tags for each in stage.networks.list_floating_ips()}
    stage.end()

    assert tags == {stage.first: TAGS | {"mine"}, stage.second: TAGS}
    assert stage.networks.list_floating_ips() == ()


@pytest.mark.parametrize("tags", [frozenset[str](), OTHERS_TAGS, TAGS | OTHERS_TAGS, frozenset({"mine"})])
def test_an_address_with_edited_tags_stays_the_reservations_and_goes_at_the_end(
    stage: Stage, tags: frozenset[str]
) -> None:
    stage.make_all()
    found = stage.at(stage.first)
    assert found is not None
    stage.networks.set_floating_ip_tags(found.id, tags)

    assert stage.items() == {stage.item(), stage.item(number=1), stage.item(Kind.TAGS, 1)}
    assert stage.make(Kind.TAGS) == Done()
    restored = stage.at(stage.first)
    assert restored is not None
    assert restored.tags == TAGS | (tags & {"mine"})
    stage.networks.set_floating_ip_tags(found.id, tags)
    stage.end()

    assert stage.networks.list_floating_ips() == ()


def test_tags_of_the_reservation_do_not_make_another_address_its_own(stage: Stage) -> None:
    stage.make_all()
    stage.assignment = replace(stage.assignment, resources=stage.assignment.resources[1:])
    other = stage.at(stage.first)

    stage.end()

    assert stage.networks.list_floating_ips() == (other,)


def test_another_floating_ip_of_the_same_project_is_not_the_one_that_was_made(stage: Stage) -> None:
    stage.make_all()
    seen = stage.plugin.observe(stage.cloud, stage.assignment, Phase.RUNNING)
    stored = {**stage.plugin.encode(stage.assignment.spec), **seen.notes}
    stage.assignment = replace(stage.assignment, spec=stage.plugin.decode(stored))
    assert stage.plugin.observe(stage.cloud, stage.assignment, Phase.RUNNING).notes == {}
    made = stage.at(stage.first)
    assert made is not None
    stage.networks.delete_floating_ip(made.id)
    other = stage.put(stage.first, PROJECT, TAGS)

    assert isinstance(stage.make(), Unusable)
    stage.end()

    assert stage.networks.list_floating_ips() == (other,)


def test_one_that_was_deleted_is_made_again_after_that_is_noted(stage: Stage) -> None:
    stage.make_all()
    resources = stage.assignment.resources
    spec = replace(stage.assignment.spec, made={each.id: "gone" for each in resources})
    for each in stage.networks.list_floating_ips():
        stage.networks.delete_floating_ip(each.id)
    stage.assignment = replace(stage.assignment, spec=spec)

    assert isinstance(stage.make(), Waiting)
    notes = stage.plugin.observe(stage.cloud, stage.assignment, Phase.RUNNING).notes
    stored = {**stage.plugin.encode(spec), **notes}
    stage.assignment = replace(stage.assignment, spec=stage.plugin.decode(stored))
    stage.make_all()

    assert {each.address for each in stage.networks.list_floating_ips()} == {stage.first, stage.second}


def test_an_address_that_a_predecessor_of_the_same_project_has_is_not_the_reservations(stage: Stage) -> None:
    other = stage.put(stage.first, PROJECT, OTHERS_TAGS)
    first, second = stage.assignment.resources
    stage.assignment = replace(stage.assignment, resources=(replace(first, is_awaited=True), second))

    assert stage.items() == frozenset()
    assert stage.plugin.lost(stage.cloud, stage.assignment, [first.id]) == {first.id}
    stage.end()

    assert stage.at(stage.first) == other


def test_who_was_faster_is_found_out_from_the_refusal(stage: Stage) -> None:
    seen = stage.plugin.observe(stage.cloud, stage.assignment, Phase.RUNNING)
    stage.put(stage.first, "stranger")

    outcome = stage.plugin.make(stage.cloud, stage.assignment, stage.item(), seen)

    assert isinstance(outcome, Unusable)
    assert "of project stranger" in outcome.reason


def test_an_address_that_only_a_port_has_is_unusable_too(stage: Stage) -> None:
    stage.fail("networks.create_floating_ip", kind=FaultKind.STATUS, status=409)

    outcome = stage.make()

    assert isinstance(outcome, Unusable)
    assert f"refuses to allocate {stage.first}" in outcome.reason


def test_an_address_whose_subnet_is_gone_never_comes(stage: Stage) -> None:
    stage.cloud.remove_subnet(stage.subnet_id)

    assert stage.make() == Unusable(f"Neutron no longer has subnet {stage.subnet_id}", is_final=True)


def test_a_subnet_that_is_there_after_all_is_waited_for(stage: Stage) -> None:
    stage.fail("networks.create_floating_ip", kind=FaultKind.STATUS, status=404)

    assert isinstance(stage.make(), Waiting)


def test_a_lease_without_a_project_cannot_have_any(stage: Stage) -> None:
    stage.assignment = replace(stage.assignment, project_id="")

    assert isinstance(stage.make(), Refused)
    assert stage.networks.list_floating_ips() == ()


def test_tags_wait_for_what_they_are_put_on(stage: Stage) -> None:
    assert isinstance(stage.make(Kind.TAGS), Waiting)


def test_what_exists_is_not_lost_whatever_is_said_of_it(stage: Stage) -> None:
    stage.make_all()
    found = stage.at(stage.second)
    assert found is not None
    stage.networks.delete_floating_ip(found.id)
    first, second = (each.id for each in stage.assignment.resources)

    assert stage.plugin.lost(stage.cloud, stage.assignment, [first, second]) == {second}
    assert stage.plugin.lost(stage.cloud, stage.assignment, [first]) == frozenset()


def test_released_addresses_are_deleted_unless_one_is_on_a_port(stage: Stage) -> None:
    stage.make_all()
    found = stage.at(stage.second)
    assert found is not None
    stage.cloud.attach_floating_ip(found.id, "port")
    second = stage.assignment.resources[1].id

    with pytest.raises(CannotChange, match=stage.second):
        stage.plugin.release(stage.cloud, stage.assignment, {})
    assert stage.at(stage.first) is not None
    stage.plugin.release(stage.cloud, stage.assignment, {second: None})
    stage.plugin.release(stage.cloud, stage.assignment, {second: None})

    assert (stage.at(stage.first), stage.at(stage.second)) == (None, replace(found, port_id="port"))


def test_addresses_in_use_are_counted_only_if_the_reservation_shrinks(stage: Stage) -> None:
    stage.make_all()
    found = stage.at(stage.second)
    assert found is not None
    stage.cloud.attach_floating_ip(found.id, "port")
    spec = stage.assignment.spec
    smaller = replace(stage.assignment, spec=replace(spec, amount=1))

    assert stage.plugin.count_in_use(stage.cloud, smaller, spec) == {stage.assignment.resources[1].id: 1}
    before = stage.cloud.calls
    assert stage.plugin.count_in_use(stage.cloud, stage.assignment, spec) == {}
    assert stage.cloud.calls == before


def test_a_reservation_that_runs_costs_one_call_and_a_start_two_an_address(stage: Stage) -> None:
    before = stage.cloud.calls
    seen = stage.plugin.observe(stage.cloud, stage.assignment, Phase.RUNNING)
    for item in sorted(stage.plugin.wanted(stage.assignment, Phase.RUNNING)):
        stage.plugin.make(stage.cloud, stage.assignment, item, seen)
    started = stage.cloud.calls
    stage.items()

    assert dict(started - before) == {
        "networks.list_floating_ips": 1,
        "networks.create_floating_ip": 2,
        "networks.set_floating_ip_tags": 2,
    }
    assert dict(stage.cloud.calls - started) == {"networks.list_floating_ips": 1}
