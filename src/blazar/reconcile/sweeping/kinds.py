"""What every kind of leftover tells of itself, and what a sweep has read before it asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from blazar.booking.context import Context
from blazar.domain.hosts import Host
from blazar.ports.compute import Aggregate


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What one sweep has to do with."""

    context: Context
    aggregates: tuple[Aggregate, ...]
    before_each: Callable[[], None]
    """To be called before each of many steps; what it raises ends the sweep."""

    @property
    def freepool(self) -> Aggregate | None:
        """Return the freepool, if there is one."""
        name = self.context.settings.hosts.freepool_name
        return next((each for each in self.aggregates if each.name == name), None)

    def registered_hosts(self) -> tuple[Host, ...]:
        """Return the hosts that are registered now."""
        with self.context.store.read() as transaction:
            return transaction.hosts.list()


class Kind(Protocol):
    """One kind of leftover; made anew for every sweep."""

    @property
    def name(self) -> str:
        """Return what operators call the kind; one word."""

    def candidates(self) -> Mapping[str, str | None]:
        """Return what may be left over, by its name within the kind.

        Returns:
            The id of the reservation that each belongs to, so that it is none while that one has
            something outside; None for what is left over in any case.
        """

    def remove(self, name: str) -> bool:
        """Do away with one of them, for good or until it is to be seen again; return whether that was done.

        Raises:
            CloudNotFound: It is gone already.
            CloudConflict, CloudRefused: It cannot be done, now or ever.
        """
