"""Leftovers: objects in the cloud that carry the service's mark, but belong to no live reservation.

Plugins find candidates and remove leftovers; the sweep decides which candidates are leftovers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from blazar.ports.clock import Clock
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate
from blazar.ports.store import Store


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """The input of one sweep, which all kinds of leftovers share."""

    cloud: Cloud
    store: Store
    clock: Clock
    check_claim: Callable[[], None]
    """Called before each longer step; an exception from it ends the sweep."""

    @cached_property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """Return Nova's aggregates; read once per sweep."""
        return self.cloud.compute.list_aggregates()


class LeftoverKind(Protocol):
    """One kind of leftover; created for each sweep."""

    @property
    def name(self) -> str:
        """Return the name of the kind for operators; one word."""

    def candidates(self) -> Mapping[str, str | None]:
        """Return possible leftovers by their name within the kind.

        Returns:
            The id of the reservation that each belongs to: it is not a leftover while that reservation has
            items in the cloud. None for a leftover in any case.

        Raises:
            CloudError: They cannot be read; the sweep continues with the other kinds.
        """

    def remove(self, name: str) -> bool:
        """Remove a leftover, for good or until it appears again; return whether it was removed.

        Raises:
            CloudNotFound: It no longer exists.
            CloudConflict, CloudRefused: It cannot be removed, now or ever.
        """
