"""The spec of ``virtual:instance`` reservations in requests and responses."""

from __future__ import annotations

from typing import Any

import pytest
from plugin_cases import RESERVATION

from blazar.domain.capacity import Demand
from blazar.domain.errors import (
    BadRequest,
    CannotChange,
    InvalidParameter,
    InvalidRequirement,
    MissingParameter,
)
from blazar.plugins.instances.plugin import make_plugin
from blazar.plugins.instances.spec import InstanceSpec, parse_spec, revise_spec
from blazar.settings import Settings

BODY = {
    "vcpus": 4,
    "memory_mb": 4096,
    "disk_gb": 20,
    "amount": 3,
    "affinity": None,
    "resource_properties": '["==", "$rack", "r1"]',
}
SHOWN = {*BODY, "flavor_id", "aggregate_id", "server_group_id"}


def parse(**keys: object) -> InstanceSpec:
    return parse_spec({**BODY, **keys})


def test_all_six_keys_are_required_and_named_in_one_message() -> None:
    with pytest.raises(MissingParameter) as caught:
        parse_spec({"memory_mb": 1})

    assert caught.value.message == ("Missing parameter vcpus, disk_gb, amount, affinity, resource_properties")


@pytest.mark.parametrize("key", ["vcpus", "memory_mb", "disk_gb", "amount"])
@pytest.mark.parametrize(
    "value", ["", "x", "1.0", 1.0, 2.5, True, [], {}, -1, "-1", 2**31, "2147483648", "²"]
)
def test_a_number_that_is_none_or_out_of_range_is_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        parse(**{key: value})

    assert caught.value.fields["name"] == key


@pytest.mark.parametrize("key", ["vcpus", "memory_mb", "disk_gb", "amount"])
def test_a_number_that_is_null_is_missing(key: str) -> None:
    with pytest.raises(MissingParameter, match=key):
        parse(**{key: None})


@pytest.mark.parametrize("key", ["vcpus", "memory_mb", "amount"])
def test_a_slot_without_cpu_or_memory_cannot_be_had_and_neither_can_no_slot(key: str) -> None:
    with pytest.raises(InvalidParameter, match=f"{key}: must be from 1"):
        parse(**{key: 0})


def test_numeric_text_counts_as_a_number_and_no_disk_is_fine() -> None:
    spec = parse(vcpus="2", memory_mb="512", disk_gb="0", amount="2147483647")

    assert (spec.vcpus, spec.memory_mb, spec.disk_gb, spec.amount) == (2, 512, 0, 2**31 - 1)
    assert spec.demand == Demand.of({"VCPU": 2, "MEMORY_MB": 512})


@pytest.mark.parametrize(
    ("value", "affinity"),
    [
        (None, None),
        ("", None),
        ("None", None),
        ("none", None),
        *[(each, True) for each in (True, 1, "1", "t", "TRUE", "on", "Y", "yes")],
        *[(each, False) for each in (False, 0, "0", "F", "false", "off", "n", "No")],
    ],
)
def test_an_affinity_has_many_spellings(value: object, affinity: bool | None) -> None:
    assert parse(affinity=value).affinity is affinity


@pytest.mark.parametrize("value", ["NONE", "null", " true", "perhaps", 2, -1, 1.0, [], [True], {}])
def test_another_word_for_an_affinity_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidParameter, match="affinity"):
        parse(affinity=value)


def test_properties_are_kept_as_text_and_a_list_becomes_text() -> None:
    assert parse(resource_properties="").resource_properties == ""
    assert parse(resource_properties=None).resource_properties is None
    listed = parse(resource_properties=["==", "$rack", "r1"])
    assert listed == parse()
    assert listed.requirement.keys == {"rack"}


@pytest.mark.parametrize("value", ["x=", "{}", ["==", "$rack"], 1])
def test_properties_that_are_no_requirement_are_refused(value: object) -> None:
    with pytest.raises(InvalidRequirement, match="resource_properties"):
        parse(resource_properties=value)


def test_clients_see_nine_keys_and_what_was_made_for_the_reservation() -> None:
    plugin = make_plugin(Settings(), None)
    spec = plugin.decode({**plugin.encode(parse()), "flavor_id": RESERVATION, "aggregate_id": 7})

    shown = plugin.render(spec)

    assert shown.keys() == SHOWN
    assert shown == {**BODY, "flavor_id": RESERVATION, "aggregate_id": 7, "server_group_id": None}


def test_a_stored_spec_of_a_newer_or_an_older_form_can_be_read() -> None:
    plugin = make_plugin(Settings(), None)
    stored = {key: value for key, value in plugin.encode(parse()).items() if key != "group_affinity"}

    assert plugin.decode({**stored, "something": "new"}) == parse()


CHANGES: list[dict[str, Any]] = [
    {"vcpus": 5},
    {"memory_mb": "1024"},
    {"disk_gb": 0},
    {"affinity": "true"},
    {"resource_properties": ""},
]


@pytest.mark.parametrize("changes", CHANGES, ids=lambda each: next(iter(each)))
def test_before_the_start_everything_can_be_changed_and_in_use_only_the_amount(
    changes: dict[str, Any],
) -> None:
    spec = parse()
    (key,) = changes

    changed = revise_spec(spec, changes, is_active=False)

    assert changed == parse(**changes)
    assert changed != spec
    with pytest.raises(CannotChange, match=key):
        revise_spec(spec, changes, is_active=True)


@pytest.mark.parametrize("is_active", [False, True])
@pytest.mark.parametrize("amount", [2, "4"])
def test_the_amount_can_always_be_changed(is_active: bool, amount: object) -> None:
    revised = revise_spec(parse(), {"amount": amount, "vcpus": "4"}, is_active=is_active)

    assert revised == parse(amount=amount)


def test_all_that_cannot_be_changed_in_use_is_named() -> None:
    changes = {"vcpus": 1, "affinity": False, "resource_properties": None, "memory_mb": 4096}

    with pytest.raises(CannotChange, match=r"^vcpus, affinity, resource_properties: cannot be changed"):
        revise_spec(parse(), changes, is_active=True)


@pytest.mark.parametrize("changes", [{"amount": 0}, {"amount": None}, {"vcpus": "x"}, {"affinity": "x"}])
def test_a_change_that_makes_no_sense_is_a_bad_request_also_in_use(changes: dict[str, object]) -> None:
    for is_active in (False, True):
        with pytest.raises(BadRequest, match=next(iter(changes))):
            revise_spec(parse(), changes, is_active=is_active)


def test_what_was_made_outside_stays_known_through_a_change() -> None:
    plugin = make_plugin(Settings(), None)
    known = {"flavor_id": RESERVATION, "aggregate_id": 7, "server_group_id": "g", "group_affinity": True}
    spec = plugin.decode({**plugin.encode(parse(affinity=True)), **known})

    revised = plugin.revise(spec, {"amount": 1, "aggregate_id": 8, "server_group_id": None}, is_active=False)

    assert plugin.encode(revised) == {**plugin.encode(spec), "amount": 1}
