"""Ids that must not be imported, because they would identify other objects."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest
from importer import old_rows as old

from blazar.domain.lease import LeaseId
from blazar.importer.ids import CloudObjects, refused_rows
from blazar.importer.ledger import Fate, Kind, Table
from blazar.importer.plan import make_plan
from blazar.importer.present import Present
from blazar.ports.compute import Aggregate, Flavor, ServerGroup
from blazar.ports.old_service import OldDatabase

GOOD, OTHER, LEASE = (str(uuid.UUID(int=number)) for number in (1, 2, 3))
PRESENT = Present(now=old.NOW)


def there(lease_id: str = LEASE, reservation_id: str = GOOD, **tables: Any) -> OldDatabase:
    lease = replace(old.lease("a", 1, 5, "PENDING"), id=lease_id)
    reservation = replace(old.reservation("a", kind="physical:host"), id=reservation_id, lease_id=lease_id)
    return old.database(lease, reservations=[reservation], **tables)


def reason(
    database: OldDatabase, cloud_objects: CloudObjects | None = None, lease_id: str = LEASE
) -> str | None:
    return refused_rows(database, PRESENT, cloud_objects or CloudObjects()).get(f"lease {lease_id}")


@pytest.mark.parametrize("lease_id", ["sweep", "refresh", "", "5", LEASE.replace("-", ""), f"{{{LEASE}}}"])
def test_a_lease_whose_id_is_no_uuid_is_refused(lease_id: str) -> None:
    assert reason(there(lease_id), lease_id=lease_id) == "its id is not a UUID in lower case"


@pytest.mark.parametrize("reservation_id", ["freepool", "1", "ABCDEF00-0000-4000-8000-000000000000"])
def test_a_lease_with_a_reservation_whose_id_is_no_uuid_is_refused(reservation_id: str) -> None:
    found = reason(there(reservation_id=reservation_id))

    assert found is not None
    assert repr(reservation_id) in found


def test_ids_as_the_service_makes_them_are_fine() -> None:
    ours = CloudObjects(
        flavors=(Flavor(id=GOOD, name=f"reservation:{GOOD}", vcpus=1, memory_mb=1, disk_gb=0),),
        aggregates=(
            Aggregate(
                id=1,
                name=GOOD,
                availability_zone=None,
                hosts=frozenset({"h"}),
                metadata={"blazar:owner": "project"},
            ),
        ),
    )

    assert refused_rows(there(), PRESENT, ours) == {}


def test_a_foreign_flavor_of_the_same_id_is_not_touched() -> None:
    flavor = Flavor(id=GOOD, name="m1.large", vcpus=1, memory_mb=1, disk_gb=0)

    assert "m1.large" in str(reason(there(), CloudObjects(flavors=(flavor,))))


def test_a_foreign_aggregate_of_the_same_name_is_not_touched() -> None:
    aggregate = Aggregate(id=7, name=GOOD, availability_zone=None, hosts=frozenset({"h"}))

    assert "aggregate 7" in str(reason(there(), CloudObjects(aggregates=(aggregate,))))


def test_a_foreign_server_group_that_details_name_is_not_touched() -> None:
    details = replace(old.slot_details("a"), reservation_id=GOOD, server_group_id="g")
    database = there(slot_details=[details])
    group = ServerGroup(id="g", name="mine", policy="affinity", project_id="project")

    assert "server group 'mine'" in str(reason(database, CloudObjects(server_groups=(group,))))


def test_what_is_refused_is_left_out_and_reported_with_all_that_belongs_to_it() -> None:
    good = old.lease("b", 1, 5, "PENDING")
    bad = there("sweep")
    database = replace(bad, leases=(*bad.leases, good))
    refused = {"lease sweep": refused_rows(database, PRESENT, CloudObjects())["lease sweep"]}
    present = replace(PRESENT, refused=refused)

    plan = make_plan(database, present, old.NOW - old.NOW)

    assert [each.lease.id for each in plan.leases] == [LeaseId(good.id)]
    assert plan.ledger.fates[Table.RESERVATIONS][Fate.LEFT_OUT] == 1
    assert [each.subject for each in plan.ledger.findings if each.kind is Kind.BAD_ID] == ["lease sweep"]
