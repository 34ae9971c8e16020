"""Cases for the choice of hosts for instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from samples import at, window

from blazar.domain.availability import Availability, Resource, Shuffle
from blazar.domain.bookings import Booking
from blazar.domain.capacity import Demand, Share
from blazar.domain.expressions import parse
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.providers import HostProvider, Inventory
from blazar.plugins.contract import Wish
from blazar.plugins.slots.choice import choose_slots

OWN, OTHER = ReservationId("own"), ReservationId("other")
SLOT = Demand.of({"VCPU": 2, "MEMORY_MB": 3})
THIN, FAT = Demand.of({"VCPU": 1}), Demand.of({"VCPU": 1, "MEMORY_MB": 4})


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """A host and its bookings."""

    id: str
    vcpus: int = 8
    memory: int = 12
    rack: str = "r1"
    is_reservable: bool = True
    is_known: bool = True
    bookings: tuple[tuple[ReservationId, Interval, Share | None], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Case:
    """A request for instances, with all facts that determine the result."""

    hosts: tuple[HostFacts, ...]
    amount: int
    affinity: bool | None = None
    rack: str | None = None
    cleaning_time: timedelta = timedelta(0)
    held: Mapping[str, int] = field(default_factory=dict)
    in_use: Mapping[str, int] = field(default_factory=dict)
    is_active: bool = False
    excluded: frozenset[str] = frozenset()
    beside: Mapping[str, tuple[Share | None, ...]] = field(default_factory=dict)
    shuffle: Shuffle | None = None

    @property
    def wish(self) -> Wish[Any]:
        return Wish(
            spec=None,
            window=window(4, 8),
            now=at(0),
            cleaning_time=self.cleaning_time,
            ignoring=frozenset({OWN}),
            held={ResourceId(key): Share(slots=slots, demand=SLOT) for key, slots in self.held.items()},
            in_use={ResourceId(key): count for key, count in self.in_use.items()},
            is_active=self.is_active,
            excluded=frozenset(map(ResourceId, self.excluded)),
            beside={ResourceId(key): shares for key, shares in self.beside.items()},
            shuffle=self.shuffle,
        )

    def choose(self) -> dict[str, int]:
        """Return the chosen number of instances by host."""
        requirement = parse(["==", "$rack", self.rack] if self.rack else None, field="resource_properties")
        chosen: Holdings = choose_slots(
            self.wish,
            make_index(self.hosts),
            demand=SLOT,
            amount=self.amount,
            affinity=self.affinity,
            requirement=requirement,
        )
        assert all(share is not None and share.demand == SLOT for share in chosen.values())
        return {str(key): share.slots for key, share in chosen.items() if share}


def make_index(hosts: Sequence[HostFacts]) -> Availability:
    index = Availability()
    for host in hosts:
        if not host.is_known:
            continue
        inventories = {"VCPU": Inventory(total=host.vcpus), "MEMORY_MB": Inventory(total=host.memory)}
        resource = Resource(
            id=ResourceId(host.id),
            generation=0,
            is_reservable=host.is_reservable,
            facts={"rack": host.rack},
            size=(host.vcpus,),
            providers=(HostProvider(uuid=host.id, name=host.id, inventories=inventories),),
        )
        bookings = [
            Booking(resource_id=resource.id, reservation_id=owner, window=each, share=share)
            for owner, each, share in host.bookings
        ]
        index.put(resource, bookings)
    return index
