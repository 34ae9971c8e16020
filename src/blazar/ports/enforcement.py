"""Port: an operator's usage rules; a filter may refuse a lease because of what it would use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Protocol, runtime_checkable

from blazar.domain.lease import Lease

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseUsage:
    """The resources that a lease uses or would use, with their real ids.

    For a requested lease, this is the planned usage; the lease is not stored yet.
    """

    lease: Lease
    document: JsonObject
    """The lease as JSON, with the keys of the REST API. Dates are in UTC and have no zone. Every reservation
    has ``allocations``: everything known of each of its resources, each resource once, or as often as the
    reservation has slots of it."""


class Occasion(StrEnum):
    """Events that a filter can be notified of afterwards."""

    COMMIT = "commit"
    """The allowed change was stored."""
    ABORT = "abort"
    """The allowed change was not stored after all."""
    ON_END = "on-end"
    """The lease ends, or is deleted before its end."""


class EnforcementFilter(Protocol):
    """One usage rule. Filters are asked in the order given in the configuration.

    The manager asks them inside a request, after it has found resources and before it stores anything. The
    first refusal is final. Other requests may be served in between, so a filter that counts must do so
    where it keeps its counts.
    """

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        """Return if the lease may be created.

        Args:
            usage: The lease.
            key: Identifies this question; :meth:`deliver` may refer to it later.

        Raises:
            BlazarError: The lease is refused; the message gives the reason and is shown to the lessee.
        """

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        """Return if the lease may change from *current* to *usage*; otherwise as ``check_create``."""

    def wants(self, occasion: Occasion, project_id: str | None) -> bool:
        """Return whether to notify the filter of this event for a project's leases."""

    def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
        """Handle a notification. It is sent at least once, and may be sent much later.

        Args:
            occasion: What has happened.
            document: The lease at that time, as in :class:`LeaseUsage`.
            key: The key of the question that was asked; at the end of a lease, the same each time.

        Raises:
            Unavailable: Delivery must be tried again later.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of a lease."""

    amount: Decimal
    unit: str
    """The name of a credit or currency, such as ``SU`` or ``EUR``."""


@runtime_checkable
class EstimatesCost(Protocol):
    """A filter that can also return what a lease costs, so that lessees can ask for it in a dry run."""

    def cost_of(self, usage: LeaseUsage) -> Cost | None:
        """Return the cost of a lease as a whole, also of one that would be changed; None if it is not known.

        Called after the filter has allowed the lease. It must not spend or hold anything.

        Raises:
            Unavailable: The cost cannot be found out now.
        """


@runtime_checkable
class LimitsDuration(Protocol):
    """A filter that can also return its limit on the duration of leases, so that lessees can read it."""

    def longest_lease(self, project_id: str | None) -> timedelta | None:
        """Return the longest lease of a project that the filter allows; None for no limit."""
