"""Creation and deletion of floating IPs in Neutron; those of others are never touched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plugin_cases import PROJECT
from plugins.floatingips_env import OTHERS_TAGS, TAGS, FloatingIPEnv

from blazar.cloud.simulated.faults import FaultKind
from blazar.domain.errors import CannotChange, CloudUnavailable
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Done, Refused, Unusable, Waiting
from blazar.plugins.floatingips.items import Kind


@pytest.fixture
def env() -> FloatingIPEnv:
    return FloatingIPEnv()


def test_addresses_appear_in_the_lessees_project_with_both_tags(env: FloatingIPEnv) -> None:
    env.make_all()

    for address in (env.first, env.second):
        found = env.at(address)
        assert found is not None
        assert (found.project_id, found.tags, found.port_id) == (PROJECT, TAGS, None)
    assert env.items() == env.plugin.wanted(env.assignment, Phase.RUNNING)


@pytest.mark.parametrize("is_attached", [False, True])
def test_they_go_at_the_end_attached_or_not(env: FloatingIPEnv, is_attached: bool) -> None:
    env.make_all()
    found = env.at(env.first)
    assert found is not None
    if is_attached:
        env.cloud.attach_floating_ip(found.id, "port")

    env.end()

    assert env.networks.list_floating_ips() == ()
    assert env.cloud.calls["networks.detach_floating_ip"] == int(is_attached)


@pytest.mark.parametrize(
    ("project_id", "tags"),
    [
        ("stranger", frozenset()),
        ("stranger", TAGS),
        ("stranger", OTHERS_TAGS),
    ],
)
def test_weakness_32_what_somebody_else_has_at_an_address_is_never_touched(
    env: FloatingIPEnv, project_id: str, tags: frozenset[str]
) -> None:
    other = env.put(env.first, project_id, tags)

    outcome = env.make()
    env.end()

    assert isinstance(outcome, Unusable)
    assert not outcome.is_final
    assert f"floating IP {other.id} of project {project_id}" in outcome.reason
    assert env.at(env.first) == other
    assert env.items() == frozenset()


def test_weakness_32_before_its_start_a_reservation_has_nothing(env: FloatingIPEnv) -> None:
    other = env.put(env.first)
    env.assignment = replace(env.assignment, has_begun=False)

    for phase in (Phase.AHEAD, Phase.PREPARING, Phase.OVER):
        assert env.items(phase) == frozenset()
    env.end()

    assert env.at(env.first) == other


@pytest.mark.parametrize("kind", [FaultKind.LOSE_REPLY, FaultKind.STATUS])
def test_what_was_made_but_not_tagged_is_tagged_the_next_time(env: FloatingIPEnv, kind: FaultKind) -> None:
    env.fail("networks.create_floating_ip", kind=kind)
    with pytest.raises(CloudUnavailable):
        env.make()
    assert env.items() == ({env.item()} if kind is FaultKind.LOSE_REPLY else set())

    env.make_all()

    found = env.at(env.first)
    assert found is not None
    assert found.tags == TAGS


def test_what_was_made_but_not_tagged_goes_at_the_end(env: FloatingIPEnv) -> None:
    env.put(env.first)

    env.end()

    assert env.at(env.first) is None


def test_what_the_lessee_did_to_the_tags_does_not_keep_the_address(env: FloatingIPEnv) -> None:
    env.put(env.first, tags=frozenset({"mine"}))
    env.put(env.second, tags=TAGS - {"blazar"})

    assert env.items() == {env.item(), env.item(number=1)}
    env.make_all()
    tags = {each.address: each.tags for each in env.networks.list_floating_ips()}
    env.end()

    assert tags == {env.first: TAGS | {"mine"}, env.second: TAGS}
    assert env.networks.list_floating_ips() == ()


@pytest.mark.parametrize("tags", [frozenset[str](), OTHERS_TAGS, TAGS | OTHERS_TAGS, frozenset({"mine"})])
def test_an_address_with_edited_tags_stays_the_reservations_and_goes_at_the_end(
    env: FloatingIPEnv, tags: frozenset[str]
) -> None:
    env.make_all()
    found = env.at(env.first)
    assert found is not None
    env.networks.set_floating_ip_tags(found.id, tags)

    assert env.items() == {env.item(), env.item(number=1), env.item(Kind.TAGS, 1)}
    assert env.make(Kind.TAGS) == Done()
    restored = env.at(env.first)
    assert restored is not None
    assert restored.tags == TAGS | (tags & {"mine"})
    env.networks.set_floating_ip_tags(found.id, tags)
    env.end()

    assert env.networks.list_floating_ips() == ()


def test_tags_of_the_reservation_do_not_make_another_address_its_own(env: FloatingIPEnv) -> None:
    env.make_all()
    env.assignment = replace(env.assignment, resources=env.assignment.resources[1:])
    other = env.at(env.first)

    env.end()

    assert env.networks.list_floating_ips() == (other,)


def test_another_floating_ip_of_the_same_project_is_not_the_one_that_was_made(env: FloatingIPEnv) -> None:
    env.make_all()
    seen = env.plugin.observe(env.cloud, env.assignment, Phase.RUNNING)
    stored = {**env.plugin.encode(env.assignment.spec), **seen.notes}
    env.assignment = replace(env.assignment, spec=env.plugin.decode(stored))
    assert env.plugin.observe(env.cloud, env.assignment, Phase.RUNNING).notes == {}
    made = env.at(env.first)
    assert made is not None
    env.networks.delete_floating_ip(made.id)
    other = env.put(env.first, PROJECT, TAGS)

    assert isinstance(env.make(), Unusable)
    env.end()

    assert env.networks.list_floating_ips() == (other,)


def test_one_that_was_deleted_is_made_again_after_that_is_noted(env: FloatingIPEnv) -> None:
    env.make_all()
    resources = env.assignment.resources
    spec = replace(env.assignment.spec, made={each.id: "gone" for each in resources})
    for each in env.networks.list_floating_ips():
        env.networks.delete_floating_ip(each.id)
    env.assignment = replace(env.assignment, spec=spec)

    assert isinstance(env.make(), Waiting)
    notes = env.plugin.observe(env.cloud, env.assignment, Phase.RUNNING).notes
    stored = {**env.plugin.encode(spec), **notes}
    env.assignment = replace(env.assignment, spec=env.plugin.decode(stored))
    env.make_all()

    assert {each.address for each in env.networks.list_floating_ips()} == {env.first, env.second}


def test_an_address_that_a_predecessor_of_the_same_project_has_is_not_the_reservations(
    env: FloatingIPEnv,
) -> None:
    other = env.put(env.first, PROJECT, OTHERS_TAGS)
    first, second = env.assignment.resources
    env.assignment = replace(env.assignment, resources=(replace(first, is_awaited=True), second))

    assert env.items() == frozenset()
    assert env.plugin.lost(env.cloud, env.assignment, [first.id]) == {first.id}
    env.end()

    assert env.at(env.first) == other


def test_who_was_faster_is_found_out_from_the_refusal(env: FloatingIPEnv) -> None:
    seen = env.plugin.observe(env.cloud, env.assignment, Phase.RUNNING)
    env.put(env.first, "stranger")

    outcome = env.plugin.make(env.cloud, env.assignment, env.item(), seen)

    assert isinstance(outcome, Unusable)
    assert "of project stranger" in outcome.reason


def test_an_address_that_only_a_port_has_is_unusable_too(env: FloatingIPEnv) -> None:
    env.fail("networks.create_floating_ip", kind=FaultKind.STATUS, status=409)

    outcome = env.make()

    assert isinstance(outcome, Unusable)
    assert f"refuses to allocate {env.first}" in outcome.reason


def test_an_address_whose_subnet_is_gone_never_comes(env: FloatingIPEnv) -> None:
    env.cloud.remove_subnet(env.subnet_id)

    assert env.make() == Unusable(f"Neutron no longer has subnet {env.subnet_id}", is_final=True)


def test_a_subnet_that_is_there_after_all_is_waited_for(env: FloatingIPEnv) -> None:
    env.fail("networks.create_floating_ip", kind=FaultKind.STATUS, status=404)

    assert isinstance(env.make(), Waiting)


def test_a_lease_without_a_project_cannot_have_any(env: FloatingIPEnv) -> None:
    env.assignment = replace(env.assignment, project_id="")

    assert isinstance(env.make(), Refused)
    assert env.networks.list_floating_ips() == ()


def test_tags_wait_for_what_they_are_put_on(env: FloatingIPEnv) -> None:
    assert isinstance(env.make(Kind.TAGS), Waiting)


def test_what_exists_is_not_lost_whatever_is_said_of_it(env: FloatingIPEnv) -> None:
    env.make_all()
    found = env.at(env.second)
    assert found is not None
    env.networks.delete_floating_ip(found.id)
    first, second = (each.id for each in env.assignment.resources)

    assert env.plugin.lost(env.cloud, env.assignment, [first, second]) == {second}
    assert env.plugin.lost(env.cloud, env.assignment, [first]) == frozenset()


def test_released_addresses_are_deleted_unless_one_is_on_a_port(env: FloatingIPEnv) -> None:
    env.make_all()
    found = env.at(env.second)
    assert found is not None
    env.cloud.attach_floating_ip(found.id, "port")
    second = env.assignment.resources[1].id

    with pytest.raises(CannotChange, match=env.second):
        env.plugin.release(env.cloud, env.assignment, {})
    assert env.at(env.first) is not None
    env.plugin.release(env.cloud, env.assignment, {second: None})
    env.plugin.release(env.cloud, env.assignment, {second: None})

    assert (env.at(env.first), env.at(env.second)) == (None, replace(found, port_id="port"))


def test_addresses_in_use_are_counted_only_if_the_reservation_shrinks(env: FloatingIPEnv) -> None:
    env.make_all()
    found = env.at(env.second)
    assert found is not None
    env.cloud.attach_floating_ip(found.id, "port")
    spec = env.assignment.spec
    smaller = replace(env.assignment, spec=replace(spec, amount=1))

    assert env.plugin.count_in_use(env.cloud, smaller, spec) == {env.assignment.resources[1].id: 1}
    before = env.cloud.calls
    assert env.plugin.count_in_use(env.cloud, env.assignment, spec) == {}
    assert env.cloud.calls == before


def test_a_reservation_that_runs_costs_one_call_and_a_start_two_an_address(env: FloatingIPEnv) -> None:
    before = env.cloud.calls
    seen = env.plugin.observe(env.cloud, env.assignment, Phase.RUNNING)
    for item in sorted(env.plugin.wanted(env.assignment, Phase.RUNNING)):
        env.plugin.make(env.cloud, env.assignment, item, seen)
    started = env.cloud.calls
    env.items()

    assert dict(started - before) == {
        "networks.list_floating_ips": 1,
        "networks.create_floating_ip": 2,
        "networks.set_floating_ip_tags": 2,
    }
    assert dict(env.cloud.calls - started) == {"networks.list_floating_ips": 1}
