"""What an operator's rules about usage are asked: a filter may refuse a lease for what it would use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from blazar.domain.lease import Lease

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseUsage:
    """What a lease uses, or is to use, with its real ids.

    Of a lease that is asked for, this is what it is to be; it is not stored yet.
    """

    lease: Lease
    document: JsonObject
    """The lease as JSON, with the keys of the REST API. Dates are in UTC and have no zone; every reservation
    has ``allocations``, a list of all that is known of each resource (of a host once for each slot)."""


class Occasion(StrEnum):
    """What a filter can be told of afterwards."""

    COMMIT = "commit"
    """What it allowed has been stored."""
    ABORT = "abort"
    """What it allowed was not stored after all."""
    ON_END = "on-end"
    """The lease ends, or is deleted before its end."""


class EnforcementFilter(Protocol):
    """One rule. Filters are asked in the order in which the configuration names them.

    They are asked inside a request, once resources were found, and before anything is stored; the first
    that refuses has the last word. Somebody else's request may come in between: a filter that counts must
    do so where it keeps its counts.
    """

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        """Return if the lease may be made.

        Args:
            usage: The lease.
            key: Names this question, of which :meth:`deliver` may speak later.

        Raises:
            BlazarError: It may not; the message says why, and goes to the lessee.
        """

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        """Return if the lease may be changed from *current* to *usage*; else as ``check_create``."""

    def wants(self, occasion: Occasion, project_id: str | None) -> bool:
        """Return whether it is to be told of what happens to a project's leases."""

    def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
        """Take note. This happens at least once, and maybe long after.

        Args:
            occasion: What has happened.
            document: The lease, as in :class:`LeaseUsage`, as it was then.
            key: Of the question that was asked; at the end the same each time for one lease.

        Raises:
            Unavailable: It is to be told again later.
        """
