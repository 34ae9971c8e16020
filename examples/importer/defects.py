"""Further defects of databases of the existing service, one of each kind."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import old_schema
from installation import (
    NETWORK,
    OTHER_SUBNET,
    Asked,
    OldInstallation,
    flavors,
    floatingips,
    hosts,
    id_of,
    instances,
)

_DAY = timedelta(days=1)


def add_defects(installation: OldInstallation) -> None:
    """Add all defects, a year ahead, on hosts and addresses that no other lease uses."""
    _add_resources(installation)
    _add_double_promises(installation)
    _add_odd_leases(installation)
    _add_odd_details(installation)
    _add_loose_rows(installation)
    _add_second_ids(installation)


def _add_resources(there: OldInstallation) -> None:
    for number in range(101, 107):
        there.host(number)
    there.host(107, has_inventory=False)
    there.host(108, reservable=False, trust_id="")
    there.host(109, hypervisor_hostname="node-101.example.org")
    there.host(110, hypervisor_hostname=None, service_name=None)
    for number in range(101, 105):
        there.floatingip(number, f"203.0.113.{number}")
    there.floatingip(105, "203.0.113.101", subnet=OTHER_SUBNET)
    there.floatingip(106, "203.0.113")
    for name, is_private in (("rack", False), ("price", True)):
        there.add(
            old_schema.resource_properties,
            id_of(name),
            resource_type="physical:host",
            property_name=name,
            private=is_private,
        )
        for number in range(101, 105):
            _capability(there, f"{name} of {number}", str(number), id_of(name))
    _capability(there, "later rack of 101", "101", id_of("rack"))
    _capability(there, "of nothing", "101", id_of("no property"))
    there.add(old_schema.traits, id_of("trait"), computehost_id="101", trait="HW_CPU_X86_AVX2")


def _capability(there: OldInstallation, name: str, host_id: str, property_id: str) -> None:
    there.add(
        old_schema.capabilities,
        id_of(name),
        computehost_id=host_id,
        property_id=property_id,
        capability_value=name,
    )


def _ahead(there: OldInstallation, name: str, *asked: Asked, day: int = 365, **options: Any) -> str:
    start = there.now + day * _DAY
    return there.lease(name, start, start + _DAY, *asked, status="PENDING", **options)


def _add_double_promises(there: OldInstallation) -> None:
    _ahead(there, "first on host 101", hosts("101"))
    _ahead(there, "second on host 101", hosts("101"))
    address = id_of("floating IP 101")
    _ahead(there, "first of an address", floatingips(address))
    _ahead(there, "second of an address", floatingips(address))
    _ahead(there, "ten slots on host 102", instances(*["102"] * 10))
    _ahead(there, "ten more slots on host 102", instances(*["102"] * 10))
    _ahead(there, "one host of two", hosts("103", count_range="2-2"))
    _ahead(there, "the same host twice", hosts("104", "104", count_range="1-1"))
    start = there.now - timedelta(hours=1)
    there.lease("runs on host 105", start, there.now + _DAY, hosts("105"), status="ACTIVE")
    there.lease("begins on host 105", there.now + _DAY / 2, there.now + _DAY, hosts("105"), status="PENDING")


def _add_odd_leases(there: OldInstallation) -> None:
    past, over = there.now - 3 * _DAY, there.now - 2 * _DAY
    there.lease("over, and still holds a host", past, over, status="TERMINATED")
    there.reserve("over, and still holds a host", 0, hosts("106"), "deleted")
    there.hold("ghost", id_of("reservation 0 of over, and still holds a host"), "106", False)
    there.lease("half over", past, over, hosts("106"), status="TERMINATED", reserved="active")
    there.lease("of no known status", past, over, status="RESERVED")
    there.lease("ends before it starts", over, past, hosts("106"), status="ERROR")
    _ahead(there, "without a trust", day=366, trust_id="")
    there.lease("two ends", past, over, status="TERMINATED")
    there.event("two ends", "end_lease", there.now, "UNDONE", mark=" again")
    there.event("two ends", "inspect_lease", there.now, "UNDONE")
    there.event("a nonexistent lease", "start_lease", there.now, "UNDONE")
    there.rows[old_schema.events][-1]["lease_id"] = None
    _ahead(there, "without an end", day=366)
    rows = there.rows[old_schema.events]
    rows[:] = [each for each in rows if each["id"] != id_of("end_lease of without an end")]


def _add_odd_details(there: OldInstallation) -> None:
    odd = {
        "count is no range": hosts("103", count_range="two"),
        "requirement is none": hosts("104", resource_properties='["?", "$rack"]'),
        "flavor is no JSON": flavors("102", resource_properties="m1.small"),
        "slots of nothing": instances("102", vcpus=0, memory_mb=0, disk_gb=0),
        "required address is none": floatingips(id_of("floating IP 102"), required=["203.0.113"]),
        "of an unknown type": Asked(resource_type="network", details={}, held=()),
    }
    for day, (name, asked) in enumerate(odd.items(), 370):
        _ahead(there, name, asked, day=day)
    _ahead(there, "details are lost", day=380)
    there.reserve("details are lost", 0, replace(instances("102"), resource_type="lost"), "pending")
    there.rows[old_schema.reservations][-1]["resource_type"] = "virtual:instance"
    _ahead(there, "details disagree", hosts("103"), day=381)
    there.rows[old_schema.reservations][-1]["resource_id"] = id_of("no details")


def _add_loose_rows(there: OldInstallation) -> None:
    there.reserve("a lease that is gone", 0, hosts("104"), "pending")
    there.add(old_schema.host_details, id_of("loose details"), count_range="1-1")
    there.add(old_schema.floatingip_details, id_of("loose floating IP details"), network_id=NETWORK, amount=1)
    there.hold("of no reservation", None, "104", False)
    there.hold("of no host", id_of("reservation 0 of details disagree"), "999", False)
    there.hold("of no address", None, None, True)


def _add_second_ids(there: OldInstallation) -> None:
    """Add leases of a host and an address under the ids that are left out."""
    _ahead(there, "under the other id of host 101", hosts("109"), day=383)
    _ahead(there, "under the other id of an address", floatingips(id_of("floating IP 105")), day=383)
