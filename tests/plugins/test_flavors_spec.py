"""The spec of ``flavor:instance`` reservations in requests and responses."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from plugin_cases import PROJECT, RESERVATION, SOURCE, lessee_of, new_cloud
from plugins.slot_env import SlotEnv

from blazar.domain.capacity import Group
from blazar.domain.errors import (
    BadRequest,
    CannotChange,
    InvalidParameter,
    InvalidRequirement,
    MissingParameter,
)
from blazar.domain.lifecycle import Phase
from blazar.plugins.flavors.errors import FlavorNotFound, FlavorNotReservable
from blazar.plugins.flavors.pci import parse_aliases
from blazar.plugins.flavors.plugin import Flavors
from blazar.plugins.flavors.spec import FlavorSpec, parse_spec
from blazar.plugins.hosts.settings import HostSettings

BODY = {"flavor_id": SOURCE.id, "amount": 2, "affinity": None}
PLUGIN = Flavors(HostSettings())


def parse(**keys: object) -> FlavorSpec:
    return parse_spec({**BODY, **keys})


def known(**keys: object) -> FlavorSpec:
    """Return the spec of a reservation after it was created."""
    return replace(parse(**keys), source=SOURCE, flavor_id=RESERVATION, aggregate_id=7)


def test_three_keys_are_required() -> None:
    with pytest.raises(MissingParameter) as caught:
        parse_spec({"resource_properties": ""})

    assert caught.value.message == "Missing parameter flavor_id, amount, affinity"


@pytest.mark.parametrize(
    ("value", "source_id"), [("m1", "m1"), (42, "42"), ("a/b ü", "a/b ü"), ("x" * 255,) * 2]
)
def test_a_flavor_is_named_by_text_or_by_a_number(value: object, source_id: str) -> None:
    assert parse(flavor_id=value).source_id == source_id


@pytest.mark.parametrize("value", [True, 1.5, [], {}, "x" * 256, "a\nb", "\x00", "\ud800"])
def test_what_cannot_be_the_id_of_a_flavor_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidParameter, match="flavor_id"):
        parse(flavor_id=value)


@pytest.mark.parametrize("value", [None, ""])
def test_no_flavor_is_not_found(value: object) -> None:
    with pytest.raises(FlavorNotFound):
        parse(flavor_id=value)


@pytest.mark.parametrize("value", [0, -1, "", "x", 1.5, True, None, 2**31])
def test_an_amount_that_is_none_is_refused_by_name(value: object) -> None:
    with pytest.raises(BadRequest, match="amount"):
        parse(amount=value)


@pytest.mark.parametrize(
    ("value", "affinity"),
    [("", None), ("None", None), ("none", None), (None, None), ("Yes", True), (True, True), ("off", False)],
)
def test_an_affinity_may_be_asked_for(value: object, affinity: bool | None) -> None:
    assert parse(affinity=value).affinity is affinity


@pytest.mark.parametrize("value", ["maybe", " ", "nonE", 2, []])
def test_another_word_for_an_affinity_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidParameter, match="affinity"):
        parse(affinity=value)


def test_properties_may_be_left_out_and_nothing_required_is_none() -> None:
    assert parse().resource_properties is None
    assert parse(resource_properties="") == parse()
    assert parse(resource_properties=["==", "$rack", "r1"]).requirement.keys == {"rack"}
    with pytest.raises(InvalidRequirement):
        parse(resource_properties="{}")


def test_clients_see_nine_keys_with_the_source_flavor_in_the_place_of_properties() -> None:
    shown = dict(PLUGIN.render(known()))

    source = json.loads(str(shown.pop("resource_properties")))
    assert source == {
        "id": "source",
        "name": "source",
        "vcpus": 2,
        "ram": 1024,
        "disk": 10,
        "OS-FLV-EXT-DATA:ephemeral": 5,
        "swap": "",
        "rxtx_factor": 1.0,
        "os-flavor-access:is_public": True,
        "OS-FLV-DISABLED:disabled": False,
        "extra_specs": dict(SOURCE.extra_specs),
    }
    assert shown == {
        "vcpus": 2,
        "memory_mb": 1024,
        "disk_gb": 10,
        "amount": 2,
        "affinity": None,
        "flavor_id": RESERVATION,
        "aggregate_id": 7,
        "server_group_id": None,
    }


def test_swap_and_factor_of_the_source_are_shown_but_servers_have_none_of_them() -> None:
    source = replace(SOURCE, swap_mb=512, rxtx_factor=2.5, is_disabled=True)
    spec = replace(known(), source=source)

    shown = json.loads(str(PLUGIN.render(spec)["resource_properties"]))

    assert (shown["swap"], shown["rxtx_factor"], shown["OS-FLV-DISABLED:disabled"]) == (512, 2.5, True)
    assert PLUGIN.decode(PLUGIN.encode(spec)) == spec
    assert spec.pattern == SOURCE


def test_a_source_that_was_stored_without_them_is_understood() -> None:
    stored = dict(PLUGIN.encode(known()))
    source = json.loads(str(stored["resource_properties"]))
    for key in ("swap", "rxtx_factor", "OS-FLV-DISABLED:disabled"):
        del source[key]

    assert PLUGIN.decode({**stored, "resource_properties": json.dumps(source)}) == known()


def test_what_was_required_of_hosts_is_shown_beside_the_source_flavor() -> None:
    spec = known(resource_properties='["==", "$rack", "r1"]')

    shown = json.loads(str(PLUGIN.render(spec)["resource_properties"]))

    assert shown["blazar:resource_properties"] == '["==", "$rack", "r1"]'
    assert PLUGIN.requirement(PLUGIN.decode(PLUGIN.encode(spec))).keys == {"rack"}


@pytest.mark.parametrize("value", [SOURCE.id, RESERVATION])
@pytest.mark.parametrize("is_active", [False, True])
def test_the_flavor_that_it_has_may_be_named_either_way(value: str, is_active: bool) -> None:
    assert PLUGIN.revise(known(), {"flavor_id": value}, is_active=is_active) == known()


def test_another_flavor_is_looked_up_anew_before_the_start_and_refused_in_use() -> None:
    revised = PLUGIN.revise(known(), {"flavor_id": 43}, is_active=False)

    assert revised == replace(known(), source_id="43", source=None)
    with pytest.raises(CannotChange, match="flavor_id"):
        PLUGIN.revise(known(), {"flavor_id": 43}, is_active=True)


def test_the_source_flavor_in_the_place_of_properties_leaves_them_as_they_are() -> None:
    spec = known(resource_properties='["==", "$rack", "r1"]')
    echo = str(PLUGIN.render(spec)["resource_properties"])

    assert PLUGIN.revise(spec, {"resource_properties": echo}, is_active=True) == spec
    assert PLUGIN.revise(spec, {"resource_properties": json.loads(echo)}, is_active=True) == spec
    changed = PLUGIN.revise(spec, {"resource_properties": echo, "flavor_id": "other"}, is_active=False)
    assert (changed.source_id, changed.resource_properties) == ("other", spec.resource_properties)


@pytest.mark.parametrize("value", ['{"id": "another"}', "{", "[" * 100_000, {"id": "another"}])
def test_another_object_in_the_place_of_properties_is_refused(value: object) -> None:
    with pytest.raises(InvalidRequirement):
        PLUGIN.revise(known(), {"resource_properties": value}, is_active=False)


def test_properties_and_affinity_can_be_changed_before_the_start_only() -> None:
    for changes in ({"resource_properties": '["==", "$rack", "r2"]'}, {"affinity": "true"}):
        assert PLUGIN.revise(known(), changes, is_active=False) == known(**changes)
        with pytest.raises(CannotChange, match=next(iter(changes))):
            PLUGIN.revise(known(), changes, is_active=True)
    assert PLUGIN.revise(known(), {"amount": "9"}, is_active=True) == known(amount=9)


def test_looking_up_takes_the_flavor_as_it_is_and_keeps_it_so() -> None:
    cloud = new_cloud()
    cloud.flavors.create_flavor(SOURCE)
    lessee = lessee_of(cloud)
    spec = PLUGIN.look_up(parse(), lessee)

    cloud.flavors.set_flavor_extra_specs(SOURCE.id, {"trait:NEW": "required"})

    assert spec.source == SOURCE
    assert PLUGIN.look_up(spec, lessee).source == SOURCE


def test_a_flavor_that_the_lessee_does_not_see_is_not_found() -> None:
    cloud = new_cloud()
    cloud.flavors.create_flavor(replace(SOURCE, is_public=False))

    with pytest.raises(FlavorNotFound) as caught:
        PLUGIN.look_up(parse(), lessee_of(cloud))

    assert caught.value.fields == {"flavor_id": SOURCE.id}
    cloud.flavors.add_flavor_access(SOURCE.id, PROJECT)
    assert PLUGIN.look_up(parse(), lessee_of(cloud)).source is not None


def test_what_is_not_guaranteed_is_shown_and_carried_over() -> None:
    cloud = new_cloud()
    specs = {"hw:mem_page_size": "large", "pci_passthrough:alias": "gpu:1", "resources1:VGPU": "1"}
    cloud.flavors.create_flavor(replace(SOURCE, extra_specs=specs))

    spec = PLUGIN.look_up(parse(), lessee_of(cloud))

    shown = json.loads(str(PLUGIN.render(spec)["resource_properties"]))
    assert shown["blazar:not_guaranteed"] == ["hw:mem_page_size", "pci_passthrough:alias"]
    assert shown["extra_specs"] == spec.pattern.extra_specs == specs
    assert PLUGIN.decode(PLUGIN.encode(spec)) == spec


def test_a_site_may_refuse_what_is_not_guaranteed() -> None:
    cloud = new_cloud()
    cloud.flavors.create_flavor(replace(SOURCE, extra_specs={"hw:mem_page_size": "large", "quota:a": "1"}))
    strict = Flavors(HostSettings(), refuses_unguaranteed=True)

    with pytest.raises(FlavorNotReservable, match=r"cannot guarantee: hw:mem_page_size$"):
        strict.look_up(parse(), lessee_of(cloud))


def test_devices_of_known_aliases_are_guaranteed_and_stay_what_they_were() -> None:
    cloud = new_cloud()
    cloud.flavors.create_flavor(replace(SOURCE, extra_specs={"pci_passthrough:alias": "gpu:2"}))
    aliases = parse_aliases(['{"name": "gpu", "resource_class": "CUSTOM_A100", "traits": "CUSTOM_NEW"}'])
    plugin = Flavors(HostSettings(), aliases=aliases, refuses_unguaranteed=True)

    spec = plugin.look_up(parse(), lessee_of(cloud))

    device = Group(amounts=(("CUSTOM_A100", 1),), required_traits=frozenset({"CUSTOM_NEW"}))
    assert spec.demand.groups == (device, device)
    again = PLUGIN.decode(PLUGIN.encode(spec))
    assert again == spec
    assert again.unguaranteed == ()
    assert "devices" not in plugin.render(spec)
    other = plugin.revise(spec, {"flavor_id": "other"}, is_active=False)
    assert (other.source, other.devices) == (None, ())


def test_a_flavor_that_another_reservation_has_made_cannot_be_reserved() -> None:
    env = SlotEnv("flavor:instance")
    env.reach(Phase.RUNNING)

    with pytest.raises(FlavorNotReservable):
        PLUGIN.look_up(parse(flavor_id=RESERVATION), env.lessee)


def test_a_spec_whose_flavor_was_not_looked_up_has_no_demand_yet() -> None:
    with pytest.raises(ValueError, match="not looked up"):
        _ = parse().demand
