"""The requests of reservations: the row of each type, found, read, and converted for the plugins."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from blazar.domain.capacity import Demand
from blazar.domain.errors import BadRequest, BlazarError, Conflict
from blazar.domain.expressions import parse
from blazar.importer.ledger import Fate, Kind, Ledger, Table
from blazar.plugins.flavors.spec import decode_spec as decode_flavors
from blazar.plugins.floatingips.floatingip import parse_address
from blazar.plugins.hosts.spec import parse_spec as decode_hosts
from blazar.ports.old_service import (
    OldDatabase,
    OldFloatingIPDetails,
    OldHostDetails,
    OldReservation,
    OldSlotDetails,
)

HOSTS, INSTANCES, FLAVORS, FLOATINGIPS = (
    "physical:host",
    "virtual:instance",
    "flavor:instance",
    "virtual:floatingip",
)
KNOWN_TYPES = frozenset({HOSTS, INSTANCES, FLAVORS, FLOATINGIPS})

Spec = Mapping[str, object]
Details = OldHostDetails | OldSlotDetails | OldFloatingIPDetails
DetailsT = TypeVar("DetailsT", OldHostDetails, OldSlotDetails, OldFloatingIPDetails)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A reservation's request: its spec, and the minimum number of resources or slots that it was given."""

    spec: Spec
    least: int = 0
    demand: Demand | None = None
    """The demand of a slot, for reservations of slots."""
    is_together: bool = False
    """All slots must be on one host."""
    problem: str | None = None
    """The reason why the reservation can only be shown."""


class DetailsReader:
    """Finds and reads the details of reservations, and counts their rows."""

    def __init__(self, old: OldDatabase, ledger: Ledger) -> None:
        self._ledger = ledger
        self._hosts = _Index(old.host_details)
        self._slots = _Index(old.slot_details)
        self._floatingips = _Index(old.floatingip_details)
        self._networks = {each.id: each.network_id for each in old.floatingips}
        self._addresses: dict[str, list[str]] = defaultdict(list)
        known = {each.id for each in old.floatingip_details}
        self._loose_addresses = [each for each in old.required_addresses if each.details_id not in known]
        for each in old.required_addresses:
            self._addresses[each.details_id or ""].append(each.address)
        self._used: set[str] = set()

    def count(self, reservation: OldReservation, fate: Fate) -> None:
        """Record the fate of the details of a reservation that is not read."""
        for index, table in self._indexes():
            details = index.find(reservation)
            if details is not None and details.id not in self._used:
                self._count(details, table, fate)

    def read(self, reservation: OldReservation, held: tuple[str, ...]) -> Wanted:
        """Return the request of a reservation.

        Args:
            reservation: The reservation.
            held: The ids of its resources, once for each slot.
        """
        match reservation.resource_type:
            case "physical:host":
                return self._read_hosts(reservation, self._find(reservation, self._hosts), held)
            case "virtual:instance" | "flavor:instance":
                return self._read_slots(reservation, self._find(reservation, self._slots))
            case "virtual:floatingip":
                return self._read_floatingips(reservation, self._find(reservation, self._floatingips), held)
        reason = f"resource type {reservation.resource_type!r} is unknown"
        self._find_wrong(Kind.NO_TYPE, reservation, reason)
        return Wanted(spec={}, problem=reason)

    def leave_out_the_rest(self) -> None:
        """Record the details that belong to no reservation."""
        for index, table in self._indexes():
            for each in index.all():
                if each.id not in self._used:
                    subject = f"{table.removesuffix('s')} {each.id}"
                    reason = f"reservation {each.reservation_id} does not exist, or has other details"
                    self._count(each, table, Fate.LEFT_OUT)
                    self._ledger.find(Kind.LOOSE_DETAILS, subject, reason)
        for address in self._loose_addresses:
            subject, reason = f"required address {address.id}", f"{address.address} of {address.details_id}"
            self._ledger.leave_out(Table.REQUIRED_ADDRESSES, Kind.LOOSE_ROW, subject, reason)

    def _indexes(self) -> tuple[tuple[_Index[Any], Table], ...]:
        return (
            (self._hosts, Table.HOST_DETAILS),
            (self._slots, Table.SLOT_DETAILS),
            (self._floatingips, Table.FLOATINGIP_DETAILS),
        )

    def _count(self, details: Details, table: Table, fate: Fate) -> None:
        self._used.add(details.id)
        self._ledger.count(table, fate)
        if table is Table.FLOATINGIP_DETAILS:
            self._ledger.count(Table.REQUIRED_ADDRESSES, fate, len(self._addresses.get(details.id, ())))

    def _find(self, reservation: OldReservation, index: _Index[DetailsT]) -> DetailsT | None:
        details = index.find(reservation)
        if details is None:
            self._find_wrong(Kind.NO_DETAILS, reservation, f"resource_id is {reservation.resource_id}")
            return None
        if (details.id, details.reservation_id) != (reservation.resource_id, reservation.id):
            reason = (
                f"resource_id is {reservation.resource_id}, but its details are {details.id}"
                f" of reservation {details.reservation_id}"
            )
            self._find_wrong(Kind.DETAILS_DISAGREE, reservation, reason)
        table = next(table for each, table in self._indexes() if each is index)
        self._count(details, table, Fate.IMPORTED)
        return details

    def _find_wrong(self, kind: Kind, reservation: OldReservation, reason: str) -> None:
        self._ledger.find(kind, f"reservation {reservation.id}", reason, lease_id=reservation.lease_id)

    def _read_hosts(
        self, reservation: OldReservation, details: OldHostDetails | None, held: tuple[str, ...]
    ) -> Wanted:
        count = _parse_count(details.count_range if details else None)
        if count is None:
            number = max(1, len(set(held)))
            count = number, number
            if details is not None:
                reason = (
                    f"count_range {details.count_range!r}: {number}-{number} is used, according to the hosts"
                    " that it holds"
                )
                self._find_wrong(Kind.UNREADABLE, reservation, reason)
        spec: dict[str, object] = {"min": count[0], "max": count[1]}
        for key in ("hypervisor_properties", "resource_properties"):
            spec[key] = self._expression(reservation, key, getattr(details, key) if details else "")
        before_end = details.before_end if details else ""
        spec["before_end"] = before_end if before_end in ("", "default", "snapshot") else "default"
        decode_hosts(spec)
        return Wanted(spec=spec, least=count[0])

    def _read_slots(self, reservation: OldReservation, details: OldSlotDetails | None) -> Wanted:
        is_flavor = reservation.resource_type == FLAVORS
        spec: dict[str, object] = {
            "vcpus": details.vcpus if details else 0,
            "memory_mb": details.memory_mb if details else 0,
            "disk_gb": details.disk_gb if details else 0,
            "amount": details.amount if details else 0,
            "affinity": details.affinity if details else None,
            "flavor_id": reservation.id,
            "aggregate_id": details.aggregate_id if details else None,
            "server_group_id": details.server_group_id if details else None,
            "group_affinity": details.affinity if details and details.server_group_id else None,
        }
        text: str | None
        if is_flavor:
            text = self._source_flavor(reservation, details)
        else:
            text = self._expression(
                reservation, "resource_properties", details.resource_properties if details else ""
            )
        spec["resource_properties"] = text
        if details is None:
            return Wanted(spec=spec, problem="its details are missing")
        try:
            demand = decode_flavors(spec).demand if is_flavor else _demand(details)
        except (ValueError, BlazarError) as error:
            reason = f"the demand of a slot is unknown: {error}"
            self._find_wrong(Kind.UNREADABLE, reservation, reason)
            return Wanted(spec=spec, problem=reason)
        return Wanted(spec=spec, least=details.amount, demand=demand, is_together=details.affinity is True)

    def _source_flavor(self, reservation: OldReservation, details: OldSlotDetails | None) -> str:
        """Return the source flavor in the format of this service's plugin."""
        if details is None:
            return json.dumps(_flavor({}, None))
        try:
            flavor = json.loads(details.resource_properties or "")
            shown = _flavor(flavor, details)
            decode_flavors({"resource_properties": json.dumps(shown), "amount": 1, "affinity": None})
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            reason = (
                f"resource_properties {details.resource_properties!r} is not a flavor ({error}): its vcpus,"
                " memory_mb and disk_gb are used"
            )
            self._find_wrong(Kind.UNREADABLE, reservation, reason)
            shown = _flavor({}, details)
        return json.dumps(shown)

    def _read_floatingips(
        self, reservation: OldReservation, details: OldFloatingIPDetails | None, held: tuple[str, ...]
    ) -> Wanted:
        if details is None:
            network = next((self._networks[each] for each in held if each in self._networks), None)
            spec = {"network_id": network or "unknown", "amount": len(held), "required_floatingips": []}
            problem = None if network else "its details are missing"
            return Wanted(spec=spec, least=len(held), problem=problem)
        required = self._required(reservation, details)
        amount = max(details.amount, len(required), 0)
        if amount != details.amount:
            reason = f"amount is {details.amount}, with {len(required)} required addresses: {amount} is used"
            self._find_wrong(Kind.UNREADABLE, reservation, reason)
        spec = {"network_id": details.network_id, "amount": amount, "required_floatingips": required}
        return Wanted(spec=spec, least=amount)

    def _required(self, reservation: OldReservation, details: OldFloatingIPDetails) -> list[str]:
        found: dict[str, None] = {}
        for text in self._addresses.get(details.id, ()):
            try:
                found[str(parse_address("required_floatingips", text))] = None
            except BadRequest:
                reason = f"required address {text!r} is not an IP address: it is no longer required"
                self._find_wrong(Kind.UNREADABLE, reservation, reason)
        return list(found)

    def _expression(self, reservation: OldReservation, key: str, text: str | None) -> str | None:
        try:
            parse(text, field=key)
        except (BadRequest, Conflict) as error:
            reason = f"{key} {text!r}: {error}; nothing is required instead"
            self._find_wrong(Kind.UNREADABLE, reservation, reason)
            return ""
        return text


class _Index(Generic[DetailsT]):
    """The rows of one type of details."""

    def __init__(self, rows: Iterable[DetailsT]) -> None:
        self._by_id: dict[str, DetailsT] = {each.id: each for each in rows}
        self._by_reservation: dict[str | None, DetailsT] = {}
        for each in self._by_id.values():
            self._by_reservation.setdefault(each.reservation_id, each)

    def all(self) -> Iterable[DetailsT]:
        """Return all rows."""
        return self._by_id.values()

    def find(self, reservation: OldReservation) -> DetailsT | None:
        """Return the row that names the reservation, or else the row that the reservation names."""
        own = self._by_id.get(reservation.resource_id or "")
        if own is not None and own.reservation_id == reservation.id:
            return own
        found = self._by_reservation.get(reservation.id)
        if found is not None:
            return found
        # A row that names another reservation does not belong to this one.
        return own if own is not None and own.reservation_id is None else None


def _parse_count(text: str | None) -> tuple[int, int] | None:
    match = re.fullmatch(r"\s*(\d{1,9})\s*-\s*(\d{1,9})\s*", text or "")
    if match is None:
        return None
    least, most = int(match[1]), int(match[2])
    return (least, most) if 1 <= least <= most else None


def _demand(details: OldSlotDetails) -> Demand:
    return Demand.of({"VCPU": details.vcpus, "MEMORY_MB": details.memory_mb, "DISK_GB": details.disk_gb})


def _flavor(found: Mapping[str, Any], details: OldSlotDetails | None) -> Mapping[str, object]:
    """Return a flavor with the keys that the plugin needs, from Nova's data or from the row's columns."""
    return {
        "id": str(found.get("id", "unknown")),
        "name": str(found.get("name", "unknown")),
        "vcpus": int(found.get("vcpus", details.vcpus if details else 0)),
        "ram": int(found.get("ram", details.memory_mb if details else 0)),
        "disk": int(found.get("disk", details.disk_gb if details else 0)),
        "OS-FLV-EXT-DATA:ephemeral": int(found.get("OS-FLV-EXT-DATA:ephemeral", 0)),
        "swap": int(found.get("swap") or 0) or "",
        "rxtx_factor": float(found.get("rxtx_factor") or 1),
        "os-flavor-access:is_public": bool(found.get("os-flavor-access:is_public", True)),
        "OS-FLV-DISABLED:disabled": bool(found.get("OS-FLV-DISABLED:disabled", False)),
        "extra_specs": {str(key): str(text) for key, text in (found.get("extra_specs") or {}).items()},
    }
