"""Resources that the existing service has allocated twice, and the leases that keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from importer import old_rows as old
from samples import at, make_host, window

from blazar.domain.lease import ResourceId
from blazar.importer.ledger import Fate, Kind, Table
from blazar.importer.plan import Plan, make_plan
from blazar.importer.present import Booking, Present
from blazar.ports.old_service import OldDatabase, OldLease

LEAD = timedelta(minutes=1)
PRESENT = Present(now=old.NOW)
ACTIVE = ("DONE", "UNDONE")


def plan(there: OldDatabase, present: Present = PRESENT) -> Plan:
    return make_plan(there, present, LEAD)


def on_hosts(
    *leases: OldLease, hosts: int = 1, held: Mapping[str, tuple[str, ...]] | None = None
) -> OldDatabase:
    """Return leases for one host each, by default all of them for host 1."""
    all_events = [
        one
        for each in leases
        for one in old.events(
            each.id, each.start, each.end, *(ACTIVE if each.status == "ACTIVE" else ("UNDONE", "UNDONE"))
        )
    ]
    return old.database(
        *leases,
        all_events=all_events,
        hosts=[old.host(str(number)) for number in range(1, hosts + 1)],
        reservations=[
            old.reservation(each.id, "active" if each.status == "ACTIVE" else "pending") for each in leases
        ],
        host_details=[old.host_details(each.id) for each in leases],
        host_allocations=[
            one for each in leases for one in old.held(each.id, *(held or {}).get(each.id, ("1",)))
        ],
    )


def twins(*leases: OldLease, held: Mapping[str, tuple[str, ...]]) -> OldDatabase:
    """Return leases for one host each; hosts 1 and 2 have the same name."""
    found = on_hosts(*leases, held=held)
    return replace(found, hosts=(*found.hosts, old.host("2", hypervisor_hostname="node-1")))


def of_slots(*leases: OldLease, **options: Any) -> OldDatabase:
    """Return leases for instances of 2 vCPUs on host 1, which has 8; *amounts* by lease, default 1."""
    amounts: Mapping[str, int] = options.pop("amounts", {})
    columns = options.pop("columns", {})
    hosts = options.pop("hosts", [old.host()])
    status = "active" if options.get("statuses") == ACTIVE else "pending"
    return old.database(
        *leases,
        hosts=hosts,
        reservations=[old.reservation(each.id, status, "virtual:instance") for each in leases],
        slot_details=[old.slot_details(each.id, amounts.get(each.id, 1), **columns) for each in leases],
        host_allocations=[
            one for each in leases for one in old.held(each.id, *["1"] * amounts.get(each.id, 1))
        ],
        **options,
    )


def held(found: Plan) -> dict[str, dict[str, int | None]]:
    """Return the number of instances by lease and host; None for a whole host."""
    return {
        each.lease.id: {one.resource_id: one.share.slots if one.share else None for one in each.allocations}
        for each in found.leases
    }


def missing(found: Plan) -> set[str]:
    """Return the leases whose reservation is flagged with missing resources."""
    return {each.lease.id for each in found.leases if each.lease.reservations[0].missing_resources}


def kinds(found: Plan) -> set[Kind]:
    """Return the kinds of findings, except hosts without inventories."""
    return {each.kind for each in found.ledger.findings} - {Kind.NO_INVENTORY}


class TestWholeResources:
    def test_what_runs_comes_before_what_does_not_though_that_is_older(self) -> None:
        older = old.lease("b", 2, 9, "PENDING", created_at=at(-200))

        found = plan(on_hosts(old.lease("a", -5, 5, "ACTIVE"), older))

        assert held(found) == {"a": {"1": None}, "b": {}}
        assert missing(found) == {"b"}
        assert kinds(found) == {Kind.TWICE, Kind.SHORT}

    def test_the_older_one_comes_first_otherwise(self) -> None:
        older = old.lease("b", 2, 9, "PENDING", created_at=at(-200))

        found = plan(on_hosts(old.lease("a", 1, 5, "PENDING"), older))

        assert held(found) == {"b": {"1": None}, "a": {}}
        (finding,) = (each for each in found.ledger.findings if each.kind is Kind.TWICE)
        assert (finding.subject, finding.lease_id) == ("host 1 of reservation r-a", "a")
        assert finding.reason.startswith("lease b also holds it")

    def test_leases_that_touch_are_not_in_each_others_way(self) -> None:
        found = plan(on_hosts(old.lease("a", 1, 5, "PENDING"), old.lease("b", 5, 9, "PENDING")))

        assert held(found) == {"a": {"1": None}, "b": {"1": None}}
        assert kinds(found) == set()

    def test_what_is_promised_here_stays_promised(self) -> None:
        booking = Booking(window=window(1, 9), share=None, holder="reservation r")

        found = plan(
            on_hosts(old.lease("a", 2, 5, "PENDING")),
            Present(now=old.NOW, bookings={ResourceId("1"): (booking,)}),
        )

        assert held(found) == {"a": {}}

    def test_one_that_needs_one_of_two_keeps_enough(self) -> None:
        leases = old.lease("a", 1, 5, "PENDING", created_at=at(-200)), old.lease("b", 1, 5, "PENDING")

        found = plan(on_hosts(*leases, hosts=2, held={"b": ("1", "2")}))

        assert held(found) == {"a": {"1": None}, "b": {"2": None}}
        assert missing(found) == set()

    def test_a_lease_with_missing_resources_is_reconciled_at_once(self) -> None:
        found = plan(on_hosts(old.lease("a", 500, 600, "PENDING"), hosts=2, held={"a": ("9",)}))

        assert missing(found) == {"a"}
        assert found.leases[0].due_at == old.NOW
        assert kinds(found) == {Kind.LOOSE_ALLOCATION, Kind.SHORT}

    def test_leases_that_are_over_hold_nothing(self) -> None:
        there = on_hosts(old.lease("a", -5, 5, "TERMINATED"), old.lease("b", 1, 9, "PENDING"))

        found = plan(there)

        assert held(found) == {"a": {}, "b": {"1": None}}
        assert {Kind.GHOST, Kind.HALF_OVER} <= kinds(found)
        assert found.ledger.fates[Table.HOST_ALLOCATIONS] == {
            Fate.OVER: 1,
            Fate.IMPORTED: 1,
            Fate.LEFT_OUT: 0,
        }

    def test_the_same_host_twice_for_one_reservation_is_one_host(self) -> None:
        found = plan(on_hosts(old.lease("a", 1, 5, "PENDING"), held={"a": ("1", "1")}))

        assert held(found) == {"a": {"1": None}}
        assert kinds(found) == {Kind.DOUBLE_ALLOCATION}

    def test_a_lease_that_ends_before_it_starts_holds_nothing(self) -> None:
        found = plan(on_hosts(old.lease("a", 5, 1, "PENDING")))

        assert held(found) == {"a": {}}
        assert Kind.SENSELESS_WINDOW in kinds(found)


class TestTwoIdsOfOneResource:
    """Host 2 is host 1 under another id; the id with more allocations is kept."""

    def test_what_runs_under_the_other_id_keeps_the_host(self) -> None:
        ahead = [old.lease(name, start, start + 1, "PENDING") for name, start in (("b", 2), ("c", 6))]

        found = plan(twins(old.lease("a", -5, 5, "ACTIVE"), *ahead, held={"a": ("2",)}))

        assert held(found) == {"a": {"1": None}, "b": {}, "c": {"1": None}}
        assert missing(found) == {"b"}
        assert kinds(found) == {Kind.HOST_DUPLICATE, Kind.MOVED_ALLOCATION, Kind.TWICE, Kind.SHORT}
        (finding,) = (each for each in found.ledger.findings if each.kind is Kind.MOVED_ALLOCATION)
        assert (finding.subject, finding.lease_id) == ("host 2 of reservation r-a", "a")
        assert finding.reason == "is also host 1, for which it counts here"
        assert found.ledger.fates[Table.HOST_ALLOCATIONS] == {Fate.IMPORTED: 2, Fate.LEFT_OUT: 1}

    def test_both_ids_for_one_reservation_are_one_host(self) -> None:
        found = plan(twins(old.lease("a", 1, 5, "PENDING"), held={"a": ("1", "2")}))

        assert held(found) == {"a": {"2": None}}
        assert Kind.DOUBLE_ALLOCATION in kinds(found)

    def test_instances_under_both_ids_share_the_capacity(self) -> None:
        first = of_slots(old.lease("a", -1, 5, "ACTIVE"), amounts={"a": 3}, statuses=ACTIVE)
        second = of_slots(old.lease("b", 1, 5, "PENDING"), amounts={"b": 2})
        tables = ("leases", "events", "reservations", "slot_details", "host_allocations")
        both = {name: getattr(first, name) + getattr(second, name) for name in tables}
        both["host_allocations"] += tuple(old.held("a", "2"))
        both["hosts"] = (old.host("1"), old.host("2", hypervisor_hostname="node-1"))

        found = plan(OldDatabase(revision=first.revision, **both))

        assert held(found) == {"a": {"1": 4}, "b": {}}
        assert missing(found) == {"b"}

    def test_a_host_that_is_registered_here_under_another_id_is_held(self) -> None:
        registered = {"7": make_host("7", hypervisor_hostname="node-1")}
        there = on_hosts(old.lease("a", -5, 5, "ACTIVE"))

        found = plan(there, replace(PRESENT, hosts=registered))
        again = plan(there, replace(PRESENT, hosts=registered, imported_before=frozenset({"host 1"})))

        assert held(found) == held(again) == {"a": {"7": None}}
        assert missing(found) == missing(again) == set()

    def test_an_address_under_two_ids_is_one(self) -> None:
        leases = (
            old.lease("a", -5, 5, "ACTIVE"),
            old.lease("b", 2, 4, "PENDING"),
            old.lease("c", 6, 7, "PENDING"),
        )
        ids = {"a": "f2", "b": "f1", "c": "f1"}
        there = old.database(
            *leases,
            statuses=ACTIVE,
            floatingips=[old.floatingip(1), old.floatingip(2, "203.0.113.1", subnet_id="other")],
            reservations=[
                old.reservation(key, "active" if key == "a" else "pending", "virtual:floatingip")
                for key in ids
            ],
            floatingip_details=[old.floatingip_details(key) for key in ids],
            floatingip_allocations=[one for key, own in ids.items() for one in old.held(key, own)],
        )

        found = plan(there)

        assert held(found) == {"a": {"f1": None}, "b": {}, "c": {"f1": None}}
        assert {Kind.FLOATINGIP_DUPLICATE, Kind.MOVED_ALLOCATION, Kind.TWICE} <= kinds(found)


class TestSlots:
    def test_as_many_are_kept_as_there_is_room_for(self) -> None:
        older = old.lease("a", 1, 5, "PENDING", created_at=at(-200))

        found = plan(of_slots(older, old.lease("b", 2, 9, "PENDING"), amounts={"a": 3, "b": 2}))

        assert held(found) == {"a": {"1": 3}, "b": {"1": 1}}
        assert missing(found) == {"b"}
        assert kinds(found) == {Kind.OVERBOOKED, Kind.SHORT}
        assert found.ledger.fates[Table.HOST_ALLOCATIONS] == {Fate.IMPORTED: 4, Fate.LEFT_OUT: 1}

    def test_slots_that_must_be_together_are_all_searched_again(self) -> None:
        older = old.lease("a", 1, 5, "PENDING", created_at=at(-200))

        found = plan(
            of_slots(
                older,
                old.lease("b", 2, 9, "PENDING"),
                amounts={"a": 3, "b": 2},
                columns={"affinity": True},
            )
        )

        assert held(found) == {"a": {"1": 3}, "b": {}}

    def test_what_runs_keeps_slots_for_which_there_is_no_room(self) -> None:
        found = plan(of_slots(old.lease("a", -1, 5, "ACTIVE"), amounts={"a": 7}, statuses=ACTIVE))

        assert held(found) == {"a": {"1": 7}}
        assert missing(found) == set()
        assert kinds(found) == {Kind.OVERBOOKED}

    def test_slots_that_follow_each_other_do_not_add_up(self) -> None:
        leases = [
            old.lease(name, start, start + 2, "PENDING") for name, start in zip("abc", (1, 3, 5), strict=True)
        ]
        long = old.lease("long", 1, 7, "PENDING")

        found = plan(of_slots(*leases, long, amounts=dict.fromkeys("abc", 3)))

        assert missing(found) == set()

    def test_overcommit_is_room(self) -> None:
        inventories = [old.inventory("1", "VCPU", 8, ratio=2.0)]

        found = plan(of_slots(old.lease("a", 1, 5, "PENDING"), amounts={"a": 8}, inventories=inventories))

        assert held(found) == {"a": {"1": 8}}

    def test_a_class_that_the_host_does_not_have_breaks_no_promise(self) -> None:
        found = plan(
            of_slots(old.lease("a", 1, 5, "PENDING"), hosts=[old.host(vcpus=0)], columns={"disk_gb": 0})
        )

        assert held(found) == {"a": {"1": 1}}

    def test_a_host_that_is_reserved_has_no_slots(self) -> None:
        whole = on_hosts(old.lease("a", 1, 5, "PENDING", created_at=at(-200)))
        slots = of_slots(old.lease("b", 1, 5, "PENDING"))
        tables = ("leases", "events", "reservations", "host_details", "slot_details", "host_allocations")
        both = {name: getattr(whole, name) + getattr(slots, name) for name in tables}

        found = plan(OldDatabase(revision=whole.revision, hosts=whole.hosts, **both))

        assert held(found) == {"a": {"1": None}, "b": {}}
