"""The account of an import: the fate of every row, and the faults that were found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, StrEnum


class Table(StrEnum):
    """The tables of the existing service that are counted, under names that operators know."""

    LEASES = "leases"
    RESERVATIONS = "reservations"
    EVENTS = "events"
    HOST_DETAILS = "host reservations"
    SLOT_DETAILS = "instance reservations"
    FLOATINGIP_DETAILS = "floating IP reservations"
    REQUIRED_ADDRESSES = "required addresses"
    HOST_ALLOCATIONS = "host allocations"
    FLOATINGIP_ALLOCATIONS = "floating IP allocations"
    HOSTS = "hosts"
    PROPERTIES = "resource properties"
    CAPABILITIES = "extra capabilities"
    INVENTORIES = "inventories"
    TRAITS = "traits"
    FLOATINGIPS = "floating IPs"


class Fate(StrEnum):
    """The fate of a row."""

    IMPORTED = "imported"
    HERE = "here already"
    """It belongs to an object that exists here, imported earlier or not; unchanged."""
    OVER = "over"
    """An allocation of a lease that is over; it no longer holds anything."""
    LEFT_OUT = "left out"
    """A finding gives the reason."""


class Kind(Enum):
    """A kind of finding: its name, its meaning, and how the import handles it."""

    NO_REVISION = "no-revision", "the database does not name its revision; its tables have the right columns"
    BAD_ID = (
        "bad-id",
        "an invalid id, or one that would match an object of others; left out with its parts",
    )
    STUCK = "stuck-lease", "a status that the lease would never leave, or got too early; its window decides"
    NO_STATUS = "unknown-status", "a status that does not exist; the lease's window decides"
    LATE_EVENT = "late-event", "an event whose time had passed, but which was not done"
    NO_EVENT = "missing-event", "a lease without its start or its end event; the event is added"
    ODD_EVENT = "odd-event", "an event without lease, of unknown type, or a duplicate; left out"
    NO_LEASE = "reservation-without-lease", "left out, with its details and allocations"
    SENSELESS_WINDOW = "senseless-window", "a lease that ends before it starts; it holds nothing"
    HALF_OVER = "half-over", "a finished lease with unfinished reservations; here they are finished"
    NO_TYPE = "unknown-type", "a reservation of an unknown resource type; in error until it ends"
    NO_DETAILS = "missing-details", "a reservation whose request is lost"
    DETAILS_DISAGREE = "details-disagree", "resource_id and reservation_id of a reservation's details differ"
    LOOSE_DETAILS = "details-without-reservation", "left out"
    UNREADABLE = "unreadable", "an invalid value, with the value that is used instead"
    LOOSE_ALLOCATION = "loose-allocation", "an allocation without reservation, host or floating IP; left out"
    MOVED_ALLOCATION = (
        "moved-allocation",
        "an allocation of a host or floating IP that is left out; it counts for the one that is kept",
    )
    GHOST = "ghost-allocation", "a host held by a finished or unreadable reservation; released"
    DOUBLE_ALLOCATION = (
        "double-allocation",
        "the same host or floating IP twice for one reservation; imported once",
    )
    TWICE = "promised-twice", "one resource reserved by two leases at the same time; one of them keeps it"
    OVERBOOKED = "overbooked", "more instances on a host than it has capacity for"
    SHORT = "too-little", "a reservation that holds less than it reserved; managers search for the rest"
    HOST_DUPLICATE = "host-twice", "two hosts with one name; one is left out"
    NO_NAME = "host-without-name", "a host that cannot be identified in the cloud; left out"
    NO_INVENTORY = (
        "host-without-inventory",
        "its vcpus, memory_mb and local_gb are used until the host is refreshed",
    )
    NOT_RESERVABLE = (
        "not-reservable",
        "imported as disabled; a monitor, or the check of floating IPs, updates it",
    )
    LOOSE_ROW = "loose-row", "a capability, inventory, trait or required address without owner, or duplicate"
    PROPERTY_DUPLICATE = "property-twice", "two resource properties with one name; the first is kept"
    FLOATINGIP_DUPLICATE = "floating-ip-twice", "an address that is registered twice; one is left out"
    NO_ADDRESS = "floating-ip-without-address", "not an IP address; left out"
    NO_TRUST = "no-trust", "a lease or host without a trust; this service needs none"
    GONE_HERE = "gone-here", "imported earlier and deleted here since; not imported again"
    DIFFERS = "differs", "exists here with other values; unchanged"

    @property
    def title(self) -> str:
        """Return the name used in reports."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """Return the meaning, and how the import handles it."""
        return self.value[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault; *subject* names the object, such as ``lease 5b0c…``."""

    kind: Kind
    subject: str
    reason: str
    lease_id: str | None = None
    """The lease in whose journal the finding is also recorded."""


@dataclass(slots=True)
class Ledger:
    """The account during an import."""

    fates: dict[Table, Counter[Fate]] = field(default_factory=lambda: {each: Counter() for each in Table})
    findings: list[Finding] = field(default_factory=list)

    def count(self, table: Table, fate: Fate, rows: int = 1) -> None:
        """Record the fate of a number of rows."""
        self.fates[table][fate] += rows

    def find(self, kind: Kind, subject: str, reason: str, *, lease_id: str | None = None) -> None:
        """Record a fault."""
        self.findings.append(Finding(kind=kind, subject=subject, reason=reason, lease_id=lease_id))

    def leave_out(self, table: Table, kind: Kind, subject: str, reason: str) -> None:
        """Record that one row is not imported, and the reason."""
        self.count(table, Fate.LEFT_OUT)
        self.find(kind, subject, reason)

    def of(self, kinds: Iterable[Kind]) -> dict[Kind, list[Finding]]:
        """Return the existing findings by kind, in the order of *kinds*."""
        found: dict[Kind, list[Finding]] = {}
        for kind in kinds:
            own = sorted((each for each in self.findings if each.kind is kind), key=lambda each: each.subject)
            if own:
                found[kind] = own
        return found
