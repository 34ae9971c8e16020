"""Rows that must not be imported because of their ids.

Aggregates, flavors and resource classes are found, and removed, by the ids of reservations, and work is
claimed by the ids of leases. So an imported id must not be one of this service's own names, or the id of an
object of another user of the cloud: the service would remove that object.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from blazar.domain.lease import is_canonical_id
from blazar.importer.present import Present
from blazar.plugins.slots.names import flavor_name, group_name
from blazar.ports.compute import Aggregate, Flavor, ServerGroup
from blazar.ports.old_service import OldDatabase, OldLease, OldReservation

_HOST_ID = re.compile(r"[1-9][0-9]{0,18}|0")


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudObjects:
    """Objects in the cloud that ids of reservations may name."""

    aggregates: tuple[Aggregate, ...] = ()
    flavors: tuple[Flavor, ...] = ()
    server_groups: tuple[ServerGroup, ...] = ()
    owner_key: str = "blazar:owner"


def refused_rows(old: OldDatabase, present: Present, cloud_objects: CloudObjects) -> Mapping[str, str]:
    """Return why rows are not imported, by name, such as ``lease 5b0c…`` or ``host 12``."""
    refused = dict(_refused_leases(old, present, _strangers(old, cloud_objects)))
    for host in old.hosts:
        if not (_HOST_ID.fullmatch(host.id) or is_canonical_id(host.id)):
            refused[f"host {host.id}"] = "its id is neither a number nor a UUID in lower case"
    for floatingip in old.floatingips:
        if not is_canonical_id(floatingip.id):
            refused[f"floating IP {floatingip.id}"] = "its id is not a UUID in lower case"
    return refused


def _refused_leases(
    old: OldDatabase, present: Present, strangers: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    lease_of = {
        str(each.id): str(lease.id) for lease in present.leases.values() for each in lease.reservations
    }
    times = Counter(each.id for each in old.leases)
    reservations: dict[str | None, list[OldReservation]] = defaultdict(list)
    for each in old.reservations:
        reservations[each.lease_id].append(each)
    for lease in old.leases:
        problems = [*_problems_of_lease(lease, times)]
        for each in reservations[lease.id]:
            if not is_canonical_id(each.id):
                problems.append(f"the id of its reservation {each.id[:64]!r} is not a UUID in lower case")
            elif lease_of.get(each.id, lease.id) != lease.id:
                problems.append(f"its reservation {each.id} also belongs to lease {lease_of[each.id]} here")
            elif each.id in strangers:
                problems.append(f"its reservation {each.id}: {strangers[each.id]}")
        if problems:
            yield f"lease {lease.id}", "; ".join(problems)


def _problems_of_lease(lease: OldLease, times: Mapping[str, int]) -> Iterator[str]:
    if not is_canonical_id(lease.id):
        yield "its id is not a UUID in lower case"
    if times[lease.id] > 1:
        yield "its id occurs twice"


def _strangers(old: OldDatabase, cloud_objects: CloudObjects) -> Mapping[str, str]:
    """Return others' objects that the service would treat as a reservation's, by reservation id."""
    found: dict[str, str] = {}
    for flavor in cloud_objects.flavors:
        if flavor.name != flavor_name(flavor.id):
            found[flavor.id] = f"a flavor named {flavor.name!r} has its id"
    for aggregate in cloud_objects.aggregates:
        if not aggregate.metadata.keys() & {cloud_objects.owner_key, "reservation"} and aggregate.hosts:
            found[aggregate.name] = f"aggregate {aggregate.id} has its name and hosts, but no mark of Blazar"
    groups = {each.id: each.name for each in cloud_objects.server_groups}
    for details in old.slot_details:
        reservation_id = details.reservation_id or ""
        group = groups.get(details.server_group_id or "")
        if group is not None and group != group_name(reservation_id):
            found[reservation_id] = f"its server_group_id is that of server group {group!r}"
    return found
