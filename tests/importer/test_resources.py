"""Hosts with their properties and inventories, and floating IPs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from importer import old_rows as old
from samples import make_floatingip, make_host

from blazar.domain.health import Health
from blazar.domain.lease import ResourceId
from blazar.domain.providers import Inventory
from blazar.importer.ledger import Fate, Kind, Table
from blazar.importer.plan import Plan, make_plan
from blazar.importer.present import Present
from blazar.ports.old_service import OldTrait

PRESENT = Present(now=old.NOW)


def plan(present: Present = PRESENT, **tables: Any) -> Plan:
    return make_plan(old.database(**tables), present, timedelta(0))


def kinds(found: Plan) -> list[Kind]:
    return [each.kind for each in found.ledger.findings]


class TestHosts:
    def test_everything_that_is_known_of_a_host_is_kept(self) -> None:
        found = plan(
            hosts=[old.host("42")],
            inventories=[old.inventory("42", "VCPU", 16, ratio=4.0)],
            traits=[OldTrait(id="t", host_id="42", trait="HW_CPU_X86_AVX2")],
            properties=[old.resource_property("rack"), old.resource_property("price", is_private=True)],
            capabilities=[old.capability("42", "rack", "r1"), old.capability("42", "price", "high")],
        )

        (host,) = found.hosts
        assert (host.id, host.hypervisor_hostname, host.service_name) == ("42", "node-42", "service-42")
        assert (host.vcpus, host.memory_mb, host.local_gb, host.availability_zone) == (8, 8192, 100, "nova")
        assert host.capabilities == {"rack": "r1", "price": "high"}
        (provider,) = host.providers
        assert provider.inventories == {"VCPU": Inventory(total=16, max_unit=16, allocation_ratio=4.0)}
        assert provider.traits == {"HW_CPU_X86_AVX2"}
        assert {each.name: (each.id, each.is_private) for each in found.properties} == {
            "rack": ("p-rack", False),
            "price": ("p-price", True),
        }
        assert found.ledger.findings == []

    def test_one_without_inventories_has_its_sizes(self) -> None:
        found = plan(hosts=[old.host()])

        inventories = found.hosts[0].providers[0].inventories
        assert {name: each.total for name, each in inventories.items()} == {
            "VCPU": 8,
            "MEMORY_MB": 8192,
            "DISK_GB": 100,
        }
        assert kinds(found) == [Kind.NO_INVENTORY]

    def test_one_that_is_not_reservable_is_disabled(self) -> None:
        found = plan(hosts=[old.host(is_reservable=False)])

        assert found.hosts[0].diagnosis.health is Health.DISABLED

    def test_of_two_of_one_name_the_one_in_use_is_kept(self) -> None:
        twins = [old.host("1"), old.host("2", hypervisor_hostname="node-1")]
        lease = old.lease("a", 1, 5, "PENDING")

        found = make_plan(
            old.database(
                lease,
                hosts=twins,
                reservations=[old.reservation("a")],
                host_details=[old.host_details("a")],
                host_allocations=old.held("a", "1"),
                inventories=[old.inventory("2", "VCPU", 8)],
            ),
            PRESENT,
            timedelta(0),
        )

        assert [each.id for each in found.hosts] == ["1"]
        assert {Kind.HOST_DUPLICATE, Kind.LOOSE_ROW} <= set(kinds(found))
        assert found.leases[0].allocations != ()

    def test_one_without_any_name_is_left_out(self) -> None:
        found = plan(hosts=[old.host(hypervisor_hostname=None, service_name="")])

        assert found.hosts == ()
        assert kinds(found) == [Kind.NO_NAME]

    def test_of_two_values_of_a_capability_the_later_one_counts(self) -> None:
        found = plan(
            hosts=[old.host()],
            properties=[old.resource_property("rack")],
            capabilities=[old.capability("1", "rack", "new", day=2), old.capability("1", "rack", "old")],
        )

        assert found.hosts[0].capabilities == {"rack": "new"}
        assert Kind.LOOSE_ROW in kinds(found)

    def test_what_belongs_to_nothing_is_left_out(self) -> None:
        found = plan(
            capabilities=[old.capability("1", "rack", "r1"), old.capability(None, "rack", "r1")],
            inventories=[old.inventory("1", "VCPU", 8)],
            traits=[OldTrait(id="t", host_id=None, trait="X")],
        )

        assert kinds(found) == [Kind.LOOSE_ROW] * 4

    def test_of_two_properties_of_one_name_the_first_is_kept(self) -> None:
        found = plan(properties=[old.resource_property("rack"), old.resource_property("rack", "p-other")])

        assert [each.id for each in found.properties] == ["p-rack"]
        assert kinds(found) == [Kind.PROPERTY_DUPLICATE]

    def test_one_that_is_here_is_left_alone(self) -> None:
        present = replace(PRESENT, hosts={"1": make_host("1", hypervisor_hostname="renamed")})

        found = plan(present, hosts=[old.host("1")], inventories=[old.inventory("1", "VCPU", 8)])

        assert found.hosts == ()
        assert kinds(found) == [Kind.DIFFERS]
        assert found.ledger.fates[Table.INVENTORIES] == {Fate.HERE: 1}

    def test_one_that_was_removed_here_does_not_come_back(self) -> None:
        found = plan(replace(PRESENT, imported_before=frozenset({"host 1"})), hosts=[old.host("1")])

        assert found.hosts == ()
        assert kinds(found) == [Kind.GONE_HERE]


class TestFloatingIPs:
    def test_ids_are_kept_and_addresses_are_canonical(self) -> None:
        found = plan(floatingips=[old.floatingip(1, "2001:DB8:0::1", subnet_id="s", network_id="n")])

        (floatingip,) = found.floatingips
        assert (floatingip.id, floatingip.address) == ("f1", "2001:db8::1")
        assert (floatingip.subnet_id, floatingip.network_id) == ("s", "n")

    def test_one_address_in_two_spellings_is_one(self) -> None:
        found = plan(floatingips=[old.floatingip(1, "2001:db8::1"), old.floatingip(2, "2001:DB8::1")])

        assert [each.id for each in found.floatingips] == ["f1"]
        assert kinds(found) == [Kind.FLOATINGIP_DUPLICATE]

    def test_the_one_in_use_is_the_one(self) -> None:
        found = plan(
            floatingips=[old.floatingip(1), old.floatingip(2, "203.0.113.1", subnet_id="other")],
            floatingip_allocations=old.held("gone", "f2"),
        )

        assert [each.id for each in found.floatingips] == ["f2"]

    def test_what_is_no_address_is_left_out(self) -> None:
        found = plan(floatingips=[old.floatingip(1, "203.0.113")])

        assert found.floatingips == ()
        assert kinds(found) == [Kind.NO_ADDRESS]

    def test_one_that_is_here_under_another_id_stays_the_one(self) -> None:
        registered = make_floatingip(1, address="203.0.113.1")
        present = replace(PRESENT, floatingips={ResourceId("fip-1"): registered})

        found = plan(present, floatingips=[old.floatingip(1)])

        assert found.floatingips == ()
        assert kinds(found) == [Kind.FLOATINGIP_DUPLICATE]
