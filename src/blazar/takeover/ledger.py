"""The account of a takeover: what became of every row, and what was found to be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, StrEnum


class Table(StrEnum):
    """What is counted: the tables of the existing service, by the names that operators know."""

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
    """What becomes of a row."""

    IMPORTED = "imported"
    HERE = "here already"
    """It belongs to something that was imported before, or that is here otherwise: left alone."""
    OVER = "over"
    """An allocation of a lease that is over: nothing is held any more."""
    LEFT_OUT = "left out"
    """A finding says why."""


class Kind(Enum):
    """A kind of finding: its name, and what it means and what is done about it."""

    NO_REVISION = "no-revision", "the database does not say which revision it is of; its tables look right"
    STUCK = "stuck-lease", "a status that the lease never left there, or too early; here its window decides"
    NO_STATUS = "unknown-status", "a status that does not exist; here the lease's window decides"
    LATE_EVENT = "late-event", "an event whose time had passed there, and which was not done"
    NO_EVENT = "missing-event", "a lease without its start or its end; it is given one"
    ODD_EVENT = "odd-event", "an event without lease, of unknown kind, or there twice; left out"
    NO_LEASE = "reservation-without-lease", "left out, with what belongs to it"
    SENSELESS_WINDOW = "senseless-window", "a lease that ends before it starts; it holds nothing"
    HALF_OVER = "half-over", "a lease that is over, with reservations that are not; here they are over"
    NO_TYPE = "unknown-type", "a reservation of a resource type that nobody knows; in error until it ends"
    NO_DETAILS = "missing-details", "nothing says any more what a reservation asks for"
    DETAILS_DISAGREE = "details-disagree", "resource_id and reservation_id of a reservation's details differ"
    LOOSE_DETAILS = "details-without-reservation", "left out"
    UNREADABLE = "unreadable", "a value that cannot be understood, and what is taken in its place"
    LOOSE_ALLOCATION = "loose-allocation", "an allocation without reservation, host or floating IP; left out"
    GHOST = "ghost-allocation", "a host held for what is over, or cannot be read; let go"
    DOUBLE_ALLOCATION = (
        "double-allocation",
        "the same host or floating IP twice for one reservation; once here",
    )
    TWICE = "promised-twice", "one resource for two leases at the same time; one of them keeps it"
    OVERBOOKED = "overbooked", "more slots on a host than it has room for"
    SHORT = "too-little", "a reservation that holds less than it was promised; the rest is sought"
    HOST_DUPLICATE = "host-twice", "two hosts of one name; one is left out"
    NO_NAME = "host-without-name", "a host by which nothing outside can be found; left out"
    NO_INVENTORY = (
        "host-without-inventory",
        "taken from its vcpus, memory_mb and local_gb until it is refreshed",
    )
    NOT_RESERVABLE = (
        "not-reservable",
        "imported as disabled; a monitor, or the check of floating IPs, decides",
    )
    LOOSE_ROW = "loose-row", "a capability, inventory, trait or required address of nothing, or there twice"
    PROPERTY_DUPLICATE = "property-twice", "two resource properties of one name; the first is kept"
    FLOATINGIP_DUPLICATE = "floating-ip-twice", "an address that is registered twice; one is left out"
    NO_ADDRESS = "floating-ip-without-address", "no address that could be given out; left out"
    NO_TRUST = "no-trust", "a lease or host without a trust; none is needed here"
    GONE_HERE = "gone-here", "imported before and deleted here since; not imported again"
    DIFFERS = "differs", "here already, and not as it is there; left alone"

    @property
    def title(self) -> str:
        """Return the name under which it is reported."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """Return what it is and what is done about it."""
        return self.value[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong: *subject* is what it is about, as in ``lease 5b0c…``."""

    kind: Kind
    subject: str
    reason: str
    lease_id: str | None = None
    """In whose journal it is written, too."""


@dataclass(slots=True)
class Ledger:
    """The account, while it is kept."""

    fates: dict[Table, Counter[Fate]] = field(default_factory=lambda: {each: Counter() for each in Table})
    findings: list[Finding] = field(default_factory=list)

    def count(self, table: Table, fate: Fate, rows: int = 1) -> None:
        """Note what became of so many rows."""
        self.fates[table][fate] += rows

    def find(self, kind: Kind, subject: str, reason: str, *, lease_id: str | None = None) -> None:
        """Note that something is wrong."""
        self.findings.append(Finding(kind=kind, subject=subject, reason=reason, lease_id=lease_id))

    def leave_out(self, table: Table, kind: Kind, subject: str, reason: str) -> None:
        """Note that one row is not imported, and why."""
        self.count(table, Fate.LEFT_OUT)
        self.find(kind, subject, reason)

    def of(self, kinds: Iterable[Kind]) -> dict[Kind, list[Finding]]:
        """Return the findings by kind, in the order of the kinds; those that there are."""
        found: dict[Kind, list[Finding]] = {}
        for kind in kinds:
            own = sorted((each for each in self.findings if each.kind is kind), key=lambda each: each.subject)
            if own:
                found[kind] = own
        return found
