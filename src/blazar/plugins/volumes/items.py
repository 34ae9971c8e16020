"""The items of a reservation of storage, and the result of observing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from blazar.ports.block_storage import VolumeType


class Kind(IntEnum):
    """The kinds of items in each pool, in the order in which they are made; removed in reverse order.

    The quota comes before the access, so that the lessee never has the pool without a limit.
    """

    TYPE = 0
    """A private volume type that is pinned to the pool."""
    QUOTA = 1
    """The quota of the lessee's project for the type; deleted with the type."""
    VOLUMES = 2
    """Volumes of the type, when they must go. They are only removed."""
    ACCESS = 3
    """The lessee's project may use the type."""
    CREATED = 4
    """All requested volumes of the pool exist. Never removed: volumes at the end are :attr:`VOLUMES`."""


@dataclass(frozen=True, slots=True, order=True)
class VolumeItem:
    """One item; ``scope`` is the resource; ``gibibytes`` is set only for a quota."""

    kind: Kind
    scope: str
    gibibytes: int = 0

    @property
    def rank(self) -> int:
        """Return the position in the order in which items are made."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class VolumesSeen:
    """The state of Cinder; a step that creates a type, or sets quotas, records it here."""

    items: frozenset[VolumeItem] = frozenset()
    types: dict[str, VolumeType] = field(default_factory=dict)
    """The reservation's volume types, by scope."""
    limited: set[str] = field(default_factory=set)
    """Scopes whose quota a step has set together with that of another scope."""
    target: VolumeType | None = None
    """The ordinary type to which volumes are moved at the end; None if it does not exist."""
    notes: Mapping[str, object] = field(default_factory=dict)
    """The names of the types, for the stored spec."""
