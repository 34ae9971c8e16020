"""Parser of ``--reservation``."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarclient import exception, reservation_keys, reservations

HOSTS = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 2,
    "hypervisor_properties": "",
    "resource_properties": "",
}
INSTANCES = {
    "resource_type": "virtual:instance",
    "vcpus": 1,
    "memory_mb": 1024,
    "disk_gb": 20,
    "amount": 1,
    "affinity": "None",
    "resource_properties": "",
}
TRICKY = '["and", [">=", "$vcpus", "2"], ["==", "$note", "a,min=9, max=8] \\" physical:host"]]'


@pytest.mark.parametrize(
    ("argument", "meant"),
    [
        ("resource_type=physical:host,min=1,max=2", HOSTS),
        ("min=1,max=2,resource_type=physical:host", HOSTS),
        ("resource_type=physical:host,min=1,max=2,before_end=snapshot", HOSTS | {"before_end": "snapshot"}),
        (
            'resource_type=physical:host,min=1,max=2,hypervisor_properties=[">=", "$vcpus", "2"]',
            HOSTS | {"hypervisor_properties": '[">=", "$vcpus", "2"]'},
        ),
        ("resource_type=virtual:instance,vcpus=1,memory_mb=1024,disk_gb=20,amount=1", INSTANCES),
        (
            "resource_type=virtual:instance,vcpus=1,memory_mb=1024,disk_gb=20,amount=1,affinity=False",
            INSTANCES | {"affinity": "False"},
        ),
        (
            "resource_type=flavor:instance,flavor_id=m1.small,amount=2",
            {
                "resource_type": "flavor:instance",
                "flavor_id": "m1.small",
                "amount": 2,
                "affinity": "None",
            },
        ),
        (
            'resource_type=virtual:floatingip,network_id=n,amount=2,required_floatingips=["192.0.2.5"]',
            {
                "resource_type": "virtual:floatingip",
                "network_id": "n",
                "amount": 2,
                "required_floatingips": ["192.0.2.5"],
            },
        ),
        (
            "resource_type=virtual:floatingip,network_id=n",
            {
                "resource_type": "virtual:floatingip",
                "network_id": "n",
                "amount": 1,
                "required_floatingips": [],
            },
        ),
    ],
)
def test_arguments_of_4_6_result_in_the_same_request(argument: str, meant: dict[str, Any]) -> None:
    assert reservations.to_create(argument) == meant


def test_a_physical_reservation_ignores_resource_type() -> None:
    assert reservations.to_create_hosts("min=1,max=2") == HOSTS
    assert reservations.to_create_hosts("min=1,max=2,resource_type=virtual:instance") == HOSTS


@pytest.mark.parametrize("argument", ["min=0,max=1", "min=2,max=1", "min=1", "max=1", "min=,max=1"])
def test_hosts_need_min_and_max_in_order(argument: str) -> None:
    with pytest.raises(exception.IncorrectLease, match="Invalid physical-reservation argument"):
        reservations.to_create_hosts(argument)


def test_client_weakness_04_all_keys_of_a_custom_resource_type_are_sent() -> None:
    argument = 'resource_type=device,min=1,vendor=acme,ports=[1, 2],serial="007",model=x,y'

    found = reservations.to_create(argument)

    assert found == {
        "resource_type": "device",
        "min": 1,
        "vendor": "acme",
        "ports": [1, 2],
        "serial": "007",
        "model": "x,y",
    }


def test_client_weakness_13_a_misspelt_key_is_refused_with_the_known_keys() -> None:
    with pytest.raises(exception.IncorrectLease) as caught:
        reservations.to_create("resource_type=physical:host,min=1,max=1,hypervisor_propertis=x")

    text = str(caught.value)
    assert "did you mean hypervisor_properties?" in text
    assert (
        "min, max, hypervisor_properties, resource_properties, before_end, same, spread, resource_type"
        in text
    )


def test_client_weakness_14_spaces_around_separators_are_ignored() -> None:
    assert reservations.to_create(" resource_type = physical:host , min = 1, max=2 ") == HOSTS


def test_client_weakness_15_and_16_json_and_quotes_may_contain_anything() -> None:
    sizes = "vcpus=1,memory_mb=1024,disk_gb=20,amount=1"
    argument = f"resource_type=virtual:instance,resource_properties={TRICKY} , {sizes}"

    assert reservations.to_create(argument) == INSTANCES | {"resource_properties": TRICKY}


def test_client_weakness_15_the_type_is_the_value_of_resource_type() -> None:
    argument = (
        'min=1,max=2,resource_properties=["==", "$type", "virtual:instance"],resource_type=physical:host'
    )

    assert reservations.to_create(argument)["resource_type"] == "physical:host"


def test_client_weakness_16_a_filter_that_is_not_json_is_refused() -> None:
    with pytest.raises(exception.IncorrectLease, match="resource_properties must be JSON"):
        reservations.to_create('resource_type=physical:host,min=1,max=1,resource_properties=["==", gpu]')


@pytest.mark.parametrize("given", ["gpu", "memory_mb>=65536", '"gpu=a100|h100,memory_mb>=65536"'])
def test_the_short_form_is_sent_as_it_is(given: str) -> None:
    for read, rest in (
        (reservations.to_create, "resource_type=physical:host,max=1,min=1"),
        (reservations.to_update, "id=r"),
    ):
        found = read(f"{rest},resource_properties={given}")

        assert found["resource_properties"] == given.strip('"')
        assert reservations.need_1_1([found])


@pytest.mark.parametrize(
    ("requirement", "is_newer"),
    [
        ("", False),
        (None, False),
        ('["and", ["==", "$rack", "r1"], [">", "$vcpus", "8"]]', False),
        ('["==", "$rack"', False),
        ('["and", ["==", "$rack", "r1"], ["exists", "$gpu"]]', True),
        ('["or", ["==", "$rack", "r1"], ["==", "$rack", "r2"]]', True),
        ('[">", "$vcpus", 8]', True),
    ],
)
def test_requirements_that_api_1_0_does_not_know_need_api_1_1(
    requirement: str | None, is_newer: bool
) -> None:
    assert reservations.need_1_1([{"resource_properties": requirement}]) == is_newer


@pytest.mark.parametrize("key", ["release", "on_conflict", "remove", "same", "spread"])
def test_keys_that_api_1_0_ignores_need_api_1_1(key: str) -> None:
    assert reservations.need_1_1([{"id": "r", key: None}])


@pytest.mark.parametrize(
    ("argument", "missing"),
    [
        ("resource_type=physical:host,min=1", "max"),
        ("resource_type=virtual:instance,vcpus=1,memory_mb=", "memory_mb, disk_gb, amount"),
        ("resource_type=flavor:instance,amount=1", "flavor_id"),
        ("resource_type=virtual:floatingip", "network_id"),
        ("min=1,max=1", "resource_type"),
    ],
)
def test_client_weakness_17_missing_keys_are_named(argument: str, missing: str) -> None:
    with pytest.raises(exception.IncorrectLease, match=missing):
        reservations.to_create(argument)


@pytest.mark.parametrize(
    "argument",
    ["id=r,min=1,min=2", "id=r,id=s", '{"id": "r", "min": 1, "min": 2}'],
)
def test_client_weakness_20_duplicate_keys_are_refused_in_updates(argument: str) -> None:
    with pytest.raises(exception.DuplicatedLeaseParameters, match="occurs twice"):
        reservations.to_update(argument)


def test_client_weakness_20_unknown_keys_of_updates_are_refused_and_ids_are_text() -> None:
    with pytest.raises(exception.IncorrectLease, match="unknown key 'foo'"):
        reservations.to_update("foo=2,id=r1")
    assert reservations.to_update("id=12,max=3") == {"id": "12", "max": 3}


def test_client_weakness_26_the_type_of_a_value_depends_on_its_key() -> None:
    argument = "resource_type=flavor:instance,flavor_id=3,amount=01"

    found = reservations.to_create(argument)

    assert (found["flavor_id"], found["amount"]) == ("3", 1)
    with pytest.raises(exception.IncorrectLease, match="amount must be a whole number"):
        reservations.to_create("resource_type=flavor:instance,flavor_id=3,amount=1.5")


def test_client_weakness_48_all_changeable_keys_are_accepted() -> None:
    found = reservations.to_update("id=r,before_end=snapshot,flavor_id=5,max=3,min=1")

    assert found == {"id": "r", "before_end": "snapshot", "flavor_id": "5", "max": 3, "min": 1}


def test_an_update_adds_no_defaults_and_no_id() -> None:
    assert reservations.to_update("min=3,id=r") == {"min": 3, "id": "r"}
    assert reservations.to_update("min=3") == {"min": 3}
    with pytest.raises(exception.IncorrectLease, match="id is empty"):
        reservations.to_update("min=3,id=")


@pytest.mark.parametrize(
    "condition",
    [
        '["==", "", "r1"]',
        '["==", "r7", "r1"]',
        '["==", "$", "r1"]',
        '["and", [">=", "$vcpus", "2"], ["=", "", "r1"]]',
    ],
)
@pytest.mark.parametrize("key", ["resource_properties", "hypervisor_properties"])
def test_a_property_that_the_shell_has_replaced_is_refused_with_a_hint_about_single_quotes(
    key: str, condition: str
) -> None:
    for read, rest in (
        (reservations.to_create, "resource_type=physical:host,min=1,max=1"),
        (reservations.to_update, "id=r"),
    ):
        with pytest.raises(exception.IncorrectLease, match=r"a property needs a leading \$.* single quotes"):
            read(f"{rest},{key}={condition}")


def test_json_without_quotes_is_refused_with_the_same_hint() -> None:
    with pytest.raises(exception.IncorrectLease, match=r"must be JSON such as .* single quotes"):
        reservations.to_create("resource_type=physical:host,min=1,max=1,resource_properties=[==, , r1]")


def test_a_json_object_is_equivalent_and_keeps_its_types() -> None:
    argument = {
        "resource_type": "physical:host",
        "min": 1,
        "max": 2,
        "resource_properties": ["==", "$a", "b"],
    }

    found = reservations.to_create(json.dumps(argument))

    assert found == HOSTS | {"resource_properties": '["==", "$a", "b"]'}


@pytest.mark.parametrize("argument", ["", "physical:host", "=1", '{"min": 1', "min"])
def test_malformed_arguments_are_refused_and_quoted(argument: str) -> None:
    with pytest.raises(exception.IncorrectLease, match="Invalid reservation argument"):
        reservations.to_create(argument)


@pytest.mark.parametrize("value", ["maybe", "2"])
def test_unknown_affinities_are_refused(value: str) -> None:
    with pytest.raises(exception.IncorrectLease, match="affinity must be one of None, True, False"):
        reservations.to_update(f"id=r,affinity={value}")


def test_other_distributions_can_add_resource_types() -> None:
    reservation_keys.CREATE_RESERVATION_KEYS["test:thing"] = {"amount": 1, "resource_type": "test:thing"}
    try:
        assert reservations.to_create("resource_type=test:thing") == {
            "resource_type": "test:thing",
            "amount": 1,
        }
        with pytest.raises(exception.IncorrectLease, match="known keys: amount, resource_type"):
            reservations.to_create("resource_type=test:thing,x=1")
    finally:
        del reservation_keys.CREATE_RESERVATION_KEYS["test:thing"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(JSON, min_size=1))
def test_any_json_is_kept_in_a_value(value: list[Any]) -> None:
    text = json.dumps(value)

    found = reservations.to_create(f"resource_type=physical:host,resource_properties={text},min=1,max=2")

    assert found == HOSTS | {"resource_properties": text}
