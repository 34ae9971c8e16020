"""Request parameters of the existing service's reservations, in the form that plugins store."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from importer import old_rows as old
from installation import flavor_json
from samples import stored_spec

from blazar.domain.lease import Reservation, ReservationStatus
from blazar.importer.ledger import Fate, Kind, Table
from blazar.importer.plan import Plan, make_plan
from blazar.importer.present import Present
from blazar.manager.plugins import load_plugins
from blazar.settings import Settings

PLUGINS = load_plugins(
    [
        "physical.host.plugin",
        "virtual.instance.plugin",
        "flavor.instance.plugin",
        "virtual.floatingip.plugin",
    ],
    Settings(),
)


def plan(kind: str, **tables: Any) -> Plan:
    """Return the plan of one lease with one reservation."""
    reservation = tables.pop("reservation", old.reservation("a", kind=kind))
    there = old.database(old.lease("a", 1, 5, "PENDING"), reservations=[reservation], **tables)
    return make_plan(there, Present(now=old.NOW), timedelta(0))


def reservation_of(found: Plan) -> Reservation:
    return found.leases[0].lease.reservations[0]


def shown(found: Plan) -> dict[str, Any]:
    """Return the reservation's keys in responses."""
    reservation = reservation_of(found)
    plugin = PLUGINS[reservation.resource_type]
    return dict(plugin.render(plugin.decode(stored_spec(reservation))))


def kinds(found: Plan) -> set[Kind]:
    return {each.kind for each in found.ledger.findings} - {Kind.SHORT, Kind.NO_INVENTORY}


def test_hosts() -> None:
    found = plan(
        "physical:host",
        host_details=[
            old.host_details("a", "2-3", resource_properties='["==", "$rack", "r1"]', before_end="snapshot")
        ],
    )

    assert shown(found) == {
        "min": 2,
        "max": 3,
        "hypervisor_properties": "",
        "resource_properties": '["==", "$rack", "r1"]',
        "before_end": "snapshot",
    }


@pytest.mark.parametrize("count_range", ["two", "3-1", "0-0", "", None])
def test_a_count_that_is_none_is_taken_from_the_hosts_that_there_are(count_range: str | None) -> None:
    found = plan(
        "physical:host",
        host_details=[old.host_details("a", count_range)],
        hosts=[old.host("1"), old.host("2")],
        host_allocations=old.held("a", "1", "2"),
    )

    assert (shown(found)["min"], shown(found)["max"]) == (2, 2)
    assert kinds(found) == {Kind.UNREADABLE}


def test_a_requirement_that_is_none_requires_nothing_and_is_kept_in_the_report() -> None:
    details = old.host_details("a", hypervisor_properties='["?", "$x", "1"]')

    found = plan("physical:host", host_details=[details])

    assert shown(found)["hypervisor_properties"] == ""
    assert any('["?", "$x", "1"]' in each.reason for each in found.ledger.findings)


@pytest.mark.parametrize(("affinity", "group"), [(None, None), (True, "group"), (False, "group")])
def test_instances(affinity: bool | None, group: str | None) -> None:
    details = old.slot_details("a", 3, affinity=affinity, server_group_id=group)

    found = plan("virtual:instance", slot_details=[details])

    assert shown(found) == {
        "vcpus": 2,
        "memory_mb": 1024,
        "disk_gb": 10,
        "amount": 3,
        "affinity": affinity,
        "resource_properties": "",
        "flavor_id": "r-a",
        "aggregate_id": 7,
        "server_group_id": group,
    }
    assert stored_spec(reservation_of(found))["group_affinity"] is affinity


def test_instances_of_a_flavor() -> None:
    text = flavor_json(extra_specs={"hw:cpu_policy": "dedicated"})

    found = plan("flavor:instance", slot_details=[old.slot_details("a", resource_properties=text)])

    spec = PLUGINS["flavor:instance"].decode(stored_spec(reservation_of(found)))
    assert dict(spec.demand.amounts) == {"PCPU": 2, "MEMORY_MB": 2048, "DISK_GB": 10}
    assert shown(found)["flavor_id"] == "r-a"
    assert json.loads(shown(found)["resource_properties"])["id"] == "42"
    assert kinds(found) == set()


@pytest.mark.parametrize("text", ["m1.small", "[]", '{"vcpus": "many"}', None, ""])
def test_a_flavor_that_is_none_is_taken_from_its_columns(text: str | None) -> None:
    found = plan("flavor:instance", slot_details=[old.slot_details("a", resource_properties=text)])

    spec = PLUGINS["flavor:instance"].decode(stored_spec(reservation_of(found)))
    assert dict(spec.demand.amounts) == {"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 10}
    assert kinds(found) == {Kind.UNREADABLE}


def test_floating_ips_with_addresses_in_their_canonical_form() -> None:
    found = plan(
        "virtual:floatingip",
        floatingip_details=[old.floatingip_details("a", 2)],
        required_addresses=old.required("a", "2001:DB8::0:1", "not an address"),
    )

    assert shown(found) == {"network_id": "network", "amount": 2, "required_floatingips": ["2001:db8::1"]}
    assert kinds(found) == {Kind.UNREADABLE}
    assert found.ledger.fates[Table.REQUIRED_ADDRESSES] == {Fate.IMPORTED: 2}


class TestWhatCannotBeRead:
    """Such a reservation is in error, with the reason, and no action is taken: no servers are deleted."""

    @pytest.mark.parametrize(
        ("kind", "tables", "finding"),
        [
            ("network", {}, Kind.NO_TYPE),
            ("virtual:instance", {}, Kind.NO_DETAILS),
            ("flavor:instance", {}, Kind.NO_DETAILS),
            ("virtual:floatingip", {}, Kind.NO_DETAILS),
            (
                "virtual:instance",
                {"slot_details": [old.slot_details("a", vcpus=0, memory_mb=0, disk_gb=0)]},
                Kind.UNREADABLE,
            ),
        ],
    )
    def test_it_is_in_error(self, kind: str, tables: dict[str, Any], finding: Kind) -> None:
        found = plan(kind, **tables)

        reservation = reservation_of(found)
        assert (reservation.status, reservation.is_deployed) == (ReservationStatus.ERROR, False)
        assert reservation.problem is not None
        assert reservation.problem.startswith("imported: ")
        assert kinds(found) == {finding}
        if kind in PLUGINS:
            shown(found)

    def test_hosts_whose_details_are_lost_are_known_by_their_number(self) -> None:
        tables = {"hosts": [old.host("1"), old.host("2")], "host_allocations": old.held("a", "1", "2")}

        found = plan("physical:host", **tables)

        assert (shown(found)["min"], shown(found)["max"]) == (2, 2)
        assert reservation_of(found).status is ReservationStatus.PENDING


class TestWhichRow:
    def test_the_row_that_says_so_itself_is_the_reservations(self) -> None:
        reservation = old.reservation("a", resource_id="elsewhere")
        rows = [old.host_details("a", "1-2"), old.host_details("b", "5-5", id="elsewhere")]

        found = plan("physical:host", reservation=reservation, host_details=rows)

        assert shown(found)["max"] == 2
        assert kinds(found) == {Kind.DETAILS_DISAGREE, Kind.LOOSE_DETAILS}

    def test_a_row_without_an_owner_belongs_to_the_one_that_names_it(self) -> None:
        rows = [old.host_details("a", "1-2", reservation_id=None)]

        found = plan("physical:host", host_details=rows)

        assert shown(found)["max"] == 2
        assert kinds(found) == {Kind.DETAILS_DISAGREE}

    def test_another_ones_row_is_not_taken(self) -> None:
        found = plan("physical:host", host_details=[old.host_details("a", "5-5", reservation_id="r-b")])

        assert shown(found)["max"] == 1
        assert kinds(found) == {Kind.NO_DETAILS, Kind.LOOSE_DETAILS}

    def test_of_two_rows_one_is_left_out(self) -> None:
        rows = [old.host_details("a", "1-2"), old.host_details("a", "5-5", id="second")]

        found = plan("physical:host", host_details=rows)

        assert shown(found)["max"] == 2
        assert [each.subject for each in found.ledger.findings if each.kind is Kind.LOOSE_DETAILS] == [
            "host reservation second"
        ]
