"""Leases for instances of a flavor, with servers placed by the real nova-scheduler."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab.tests.actors import (
    LARGE_MEMORY_MB,
    MICROVERSION,
    Actor,
    Json,
    Operator,
    must,
    only,
    reservation_of,
)
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.slots import fill, finds_no_host, is_kept_from
from cloudlab.waiting import wait_until

TRAIT = "CUSTOM_TESTED_BY_FLAVOR"
HOSTS_WITH_TRAIT = {"node-2", "node-10"}
GPU = "CUSTOM_GPU"
HOST_WITH_GPUS = "node-3"
VERSION = "1.29"
WRONG: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({"amount": 0}, "amount"),
    ({"amount": "several"}, "amount"),
    ({"amount": 2**31 - 1}, "amount"),
    ({"affinity": "perhaps"}, "affinity"),
    ({"flavor_id": {"id": "tiny"}}, "flavor_id"),
    ({"resource_properties": '["==", "$colour", "red"]'}, "colour"),
    ({"resource_type": "flavour:instance"}, "flavour:instance"),
)
"""Keys of a reservation that are refused with 400, each with a word of the message."""

MakeFlavor = Callable[..., str]


@pytest.fixture
def make_flavor(operator: Operator) -> Iterator[MakeFlavor]:
    """Create flavors, of which two fit on a host; return their ids."""
    made: list[str] = []

    def make(extra_specs: Mapping[str, str] | None = None, *, is_public: bool = True) -> str:
        name = f"flavor-{uuid.uuid4().hex[:8]}"
        sizes = {"vcpus": 1, "ram": LARGE_MEMORY_MB, "disk": 1}
        body = {"id": name, "name": name, **sizes, "os-flavor-access:is_public": is_public}
        operator.compute.post("/flavors", json={"flavor": body})
        made.append(name)
        if extra_specs:
            operator.compute.post(f"/flavors/{name}/os-extra_specs", json={"extra_specs": dict(extra_specs)})
        return name

    yield make
    for each in made:
        operator.compute.delete(f"/flavors/{each}")


def test_slots_are_like_the_flavor_and_for_their_lessee_only(
    lab: EndToEndLab, operator: Operator, lessee: Actor, other: Actor, make_flavor: MakeFlavor
) -> None:
    source_id = make_flavor({"hw:watchdog_action": "none"})
    lease = lessee.reserve_flavor(source_id, 3)
    (answer,) = lease["reservations"]
    reservation = reservation_of(lease)
    assert (answer["flavor_id"], answer["server_group_id"]) == (reservation, None)
    assert json.loads(answer["resource_properties"])["id"] == source_id
    lessee.wait_for_lease(lease, "ACTIVE")

    flavor = lessee.compute.get(f"/flavors/{reservation}", microversion=MICROVERSION).json()["flavor"]
    assert (flavor["vcpus"], flavor["ram"], flavor["disk"]) == (1, LARGE_MEMORY_MB, 1)
    assert flavor["extra_specs"]["hw:watchdog_action"] == "none"
    assert is_kept_from(other, reservation)
    hosts = fill(lessee, operator, reservation, 3)
    assert len(hosts) == 3
    assert lab.slots.slots(reservation) == {host: hosts.count(host) for host in hosts}
    assert finds_no_host(lessee, reservation)

    lessee.end_now(lease)
    assert lab.leftovers() == [f"lease {lease['id']} is TERMINATED"]


@pytest.fixture
def trait(lab: EndToEndLab, operator: Operator) -> Iterator[str]:
    """A trait of two of the registered hosts."""
    operator.placement.put(f"/traits/{TRAIT}", microversion=VERSION)
    try:
        for host in HOSTS_WITH_TRAIT:
            set_traits(operator, host, lambda traits: {*traits, TRAIT})
        assert "2 have changed" in lab.refresh_hosts()
        yield TRAIT
    finally:
        for host in HOSTS_WITH_TRAIT:
            set_traits(operator, host, lambda traits: traits - {TRAIT})
        operator.placement.delete(f"/traits/{TRAIT}", microversion=VERSION)
        lab.refresh_hosts()


def test_a_trait_is_required_of_every_host(
    lab: EndToEndLab, operator: Operator, lessee: Actor, make_flavor: MakeFlavor, trait: str
) -> None:
    flavor_id = make_flavor({f"trait:{trait}": "required"})
    with pytest.raises(BlazarClientException) as refusal:
        lessee.reserve_flavor(flavor_id, 3, affinity=False)
    assert refusal.value.code == 400

    lease = lessee.reserve_flavor(flavor_id, 2, affinity=False)
    reservation = reservation_of(lease)
    lessee.wait_for_lease(lease, "ACTIVE")
    hosts = fill(lessee, operator, reservation, 2)

    assert hosts == sorted(HOSTS_WITH_TRAIT)
    assert finds_no_host(lessee, reservation)
    lessee.end(lease)
    assert lab.leftovers() == []


@pytest.fixture
def gpus(lab: EndToEndLab, operator: Operator) -> Iterator[str]:
    """A resource class of which one host has two units, on a child provider."""
    placement = operator.placement
    root = must(operator.provider(HOST_WITH_GPUS))["uuid"]
    body = {"name": f"{HOST_WITH_GPUS}_gpu", "parent_provider_uuid": root}
    placement.put(f"/resource_classes/{GPU}", microversion=VERSION)
    made = placement.post("/resource_providers", json=body, microversion=VERSION).json()
    path = f"/resource_providers/{made['uuid']}"
    try:
        inventories = {"resource_provider_generation": 0, "inventories": {GPU: {"total": 2}}}
        placement.put(f"{path}/inventories", json=inventories, microversion=VERSION)
        assert "1 have changed" in lab.refresh_hosts()
        yield GPU
    finally:
        lab.clear()
        wait_until(lambda: is_unused(operator, path), "the units are free", seconds=60)
        placement.delete(path, microversion=VERSION)
        placement.delete(f"/resource_classes/{GPU}", microversion=VERSION)
        lab.refresh_hosts()
        lab.forget_providers(HOST_WITH_GPUS)


def test_units_of_a_device_below_the_host_are_reserved(
    lab: EndToEndLab, operator: Operator, lessee: Actor, make_flavor: MakeFlavor, gpus: str
) -> None:
    provider = must(operator.provider(f"{HOST_WITH_GPUS}_gpu"))
    path = f"/resource_providers/{provider['uuid']}"
    for suffix in ("", "1", "_GPU"):
        flavor_id = make_flavor({f"resources{suffix}:{gpus}": "1"})
        with pytest.raises(BlazarClientException) as refusal:
            lessee.reserve_flavor(flavor_id, 3)
        assert refusal.value.code == 400, suffix

        lease = lessee.reserve_flavor(flavor_id, 2)
        reservation = reservation_of(lease)
        lessee.wait_for_lease(lease, "ACTIVE")
        hosts = fill(lessee, operator, reservation, 2)

        assert hosts == [HOST_WITH_GPUS] * 2, suffix
        assert finds_no_host(lessee, reservation), suffix
        lessee.end(lease)
        assert lab.leftovers() == [], suffix
        wait_until(lambda: is_unused(operator, path), "the units are free", seconds=60)


def test_both_types_start_on_one_host_in_the_same_second_and_share_it(
    lab: EndToEndLab, operator: Operator, lessee: Actor, make_flavor: MakeFlavor
) -> None:
    flavor_id = make_flavor({"resources:MEMORY_MB": "1024"})
    there: dict[str, Any] = {"affinity": True, "resource_properties": only("node-1")}
    with ThreadPoolExecutor(2) as hands:
        one = hands.submit(lessee.reserve_instances, 2, **there)
        another = hands.submit(lessee.reserve_flavor, flavor_id, 2, **there)
        leases = [one.result(), another.result()]
    reservations = [reservation_of(each) for each in leases]
    for each in leases:
        lessee.wait_for_lease(each, "ACTIVE")

    assert [lab.slots.slots(each) for each in reservations] == [{"node-1": 2}] * 2
    for reservation in reservations:
        assert fill(lessee, operator, reservation, 2) == ["node-1"] * 2
        assert finds_no_host(lessee, reservation)
    for each in leases:
        lessee.end(each)
    assert lab.leftovers() == []


def test_extra_specs_that_are_not_guaranteed_are_named_and_the_servers_have_them(
    lab: EndToEndLab, operator: Operator, lessee: Actor, make_flavor: MakeFlavor
) -> None:
    specs = {
        "hw:mem_page_size": "small",
        "hw:pci_numa_affinity_policy": "legacy",
        "hw:watchdog_action": "none",
    }

    lease = lessee.reserve_flavor(make_flavor(specs), 1)

    (answer,) = lease["reservations"]
    shown = json.loads(answer["resource_properties"])
    assert shown["blazar:not_guaranteed"] == ["hw:mem_page_size", "hw:pci_numa_affinity_policy"]
    lessee.wait_for_lease(lease, "ACTIVE")
    reservation = reservation_of(lease)
    flavor = lessee.compute.get(f"/flavors/{reservation}", microversion=MICROVERSION).json()["flavor"]
    assert specs.items() <= flavor["extra_specs"].items()
    lessee.end(lease)
    assert lab.leftovers() == []


def test_a_flavor_that_only_the_service_may_make_is_refused_with_the_reason(
    lab: EndToEndLab, lessee: Actor, make_flavor: MakeFlavor
) -> None:
    with pytest.raises(BlazarClientException, match="blazar:preemptible") as refusal:
        lessee.reserve_flavor(make_flavor({"blazar:preemptible": "true", "hw:numa_nodes": "2"}), 1)

    assert refusal.value.code == 409
    assert lab.leftovers() == []


def test_a_flavor_that_the_lessee_does_not_see_is_not_found(
    lab: EndToEndLab, operator: Operator, lessee: Actor, other: Actor, make_flavor: MakeFlavor
) -> None:
    private = make_flavor(is_public=False)
    access = {"addTenantAccess": {"tenant": other.project_id}}
    operator.compute.post(f"/flavors/{private}/action", json=access)

    for flavor_id in (private, "no-such-flavor", None):
        with pytest.raises(BlazarClientException) as refusal:
            lessee.reserve_flavor(flavor_id, 1)
        assert refusal.value.code == 404
        assert str(flavor_id or "flavor_id") in str(refusal.value)

    assert lab.leftovers() == []
    other.wait_for_lease(other.reserve_flavor(private, 1), "ACTIVE")


def test_what_cannot_be_is_refused_by_name(lab: EndToEndLab, lessee: Actor) -> None:
    right = {"flavor_id": lessee.openstack.details.flavor_id, "amount": 1, "affinity": True}

    for keys, said in WRONG:
        with pytest.raises(BlazarClientException) as refusal:
            lessee.reserve_flavor(**{**right, **keys})

        assert refusal.value.code == 400, keys
        assert said in str(refusal.value), keys
    assert lab.leftovers() == []


def set_traits(operator: Operator, host: str, change: Callable[[set[str]], set[str]]) -> None:
    """Replace the traits of a host's own provider; Nova may do the same at the same time."""
    path = f"/resource_providers/{must(operator.provider(host))['uuid']}/traits"

    def is_done() -> bool:
        body: Json = operator.placement.get(path, microversion=VERSION).json()
        body["traits"] = sorted(change(set(body["traits"])))
        return bool(operator.placement.put(path, json=body, microversion=VERSION, raise_exc=False).ok)

    wait_until(is_done, f"{host} has other traits", seconds=20)


def is_unused(operator: Operator, path: str) -> bool:
    """Return whether a provider has no allocations."""
    answer = operator.placement.get(f"{path}/allocations", microversion=VERSION)
    return not answer.json()["allocations"]
