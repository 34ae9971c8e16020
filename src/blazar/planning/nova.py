"""The configuration of Nova and its aggregates that reservations need, compared with the present one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from blazar.booking.context import Context
from blazar.domain.lease import ResourceId
from blazar.domain.maintenance import outside_pool
from blazar.domain.wording import first_few
from blazar.planning.hosts import Pool
from blazar.planning.reading import CloudHosts
from blazar.plugins.hosts.preemption import is_preemptible
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.zones import find_zones, is_of_reservation, pooled_hosts
from blazar.plugins.slots.names import id_of_name
from blazar.plugins.slots.wanted import RESERVATION_SPEC
from blazar.ports.compute import Aggregate, Flavor, Server

FILTER: Final = "blazarnova.scheduler.filters.blazar_filter.BlazarFilter"
EXTRA_SPECS_FILTER: Final = "AggregateInstanceExtraSpecsFilter"
_SCOPE: Final = "aggregate_instance_extra_specs"
_DEFAULT_PLACEMENT_RESULTS: Final = 1000
_NOT_SEEN: Final = "not visible from here; --nova-conf FILE compares it"


class State(StrEnum):
    """The result of a comparison."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"
    """It cannot be seen from here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A part of the configuration that reservations need."""

    name: str
    needed: str
    present: str
    state: State
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaConf:
    """The configuration of a nova-scheduler."""

    name: str
    """The file from which it was read."""
    values: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """All values of each key, by group."""

    def all_of(self, group: str, key: str) -> Sequence[str]:
        """Return all values of a key; none if it is not set."""
        return self.values.get(group, {}).get(key, ())

    def last_of(self, group: str, key: str, default: str = "") -> str:
        """Return the value of a key that is set once."""
        return next(reversed(self.all_of(group, key)), default)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraSpecsAdvice:
    """The need of Nova for AggregateInstanceExtraSpecsFilter, with the reason."""

    is_needed: bool
    flavors: tuple[str, ...]
    """Flavors of the cloud that only this filter places on the right hosts."""
    hampered: tuple[str, ...]
    """Those of them whose servers could not be placed on reserved hosts, which leave the aggregates of their
    zone."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaAdvice:
    """The needs of Nova."""

    settings: tuple[Setting, ...]
    extra_specs: ExtraSpecsAdvice


def advise_on_nova(context: Context, found: CloudHosts, conf: NovaConf | None) -> NovaAdvice:
    """Return the needed configuration of Nova, compared with the present one.

    Args:
        context: The context.
        found: The hosts, servers and aggregates.
        conf: The configuration of a nova-scheduler; None if it is not known.
    """
    flavors, settings = context.cloud.flavors.list_flavors(), context.settings.of(HostSettings)
    return NovaAdvice(
        settings=(
            *compare_aggregates(context, found),
            *compare_scheduler(found, settings, conf),
        ),
        extra_specs=advise_on_extra_specs(flavors, found, settings),
    )


def compare_aggregates(context: Context, found: CloudHosts) -> tuple[Setting, ...]:
    """Return what reservations need of aggregates, compared with the present ones."""
    now = context.clock.now()
    with context.store.read() as transaction:
        outside = outside_pool(transaction.maintenances.list(ending_after=now), now)
    return tuple(_of_aggregates(found, context.settings.of(HostSettings), outside))


def compare_scheduler(
    found: CloudHosts, settings: HostSettings, conf: NovaConf | None
) -> tuple[Setting, ...]:
    """Return what reservations need of nova-scheduler, compared with its configuration and its effects."""
    strangers = servers_without_reservation(found.servers, pooled_hosts(found.aggregates, settings))
    return (
        *_of_filters(conf, strangers),
        *_of_names(conf, settings),
        *_of_scheduling(conf, len(found.hosts)),
    )


def servers_without_reservation(servers: Iterable[Server], pooled: Collection[str]) -> Sequence[Server]:
    """Return the servers on hosts of the freepool that BlazarFilter would not have placed there."""
    return [
        each
        for each in servers
        if each.service_host in pooled
        and not each.is_deleting
        and not is_preemptible(each)
        and RESERVATION_SPEC not in each.flavor_extra_specs
    ]


def reserved_hosts(aggregates: Iterable[Aggregate], settings: HostSettings) -> frozenset[str]:
    """Return the service hosts in aggregates of reservations of whole hosts."""
    inside = [each.hosts for each in aggregates if is_of_reservation(each, settings)]
    return frozenset().union(*inside)


def _of_aggregates(
    found: CloudHosts, settings: HostSettings, outside: Collection[ResourceId]
) -> Iterator[Setting]:
    pool = next((each for each in found.aggregates if each.name == settings.freepool_name), None)
    zone = None if pool is None else pool.availability_zone
    yield Setting(
        name=f"aggregate {settings.freepool_name}",
        needed="exists, without an availability zone",
        present="missing" if pool is None else f"in zone {zone}" if zone else "exists, without a zone",
        state=State.WRONG if pool is None or zone else State.RIGHT,
        why="registered hosts that no reservation holds are in it, and keep their own zones",
    )
    pooled = pooled_hosts(found.aggregates, settings)
    inside = [each for each in found.hosts if each.resource_id and each.resource_id not in outside]
    away = {each.service_host for each in inside} - pooled
    away -= reserved_hosts(found.aggregates, settings)
    stray = {each.service_host for each in found.hosts if each.resource_id is None} & pooled
    parts = [f"{first_few(sorted(away))} in neither"] if away else []
    parts += [f"{first_few(sorted(stray))} in the freepool, but not registered"] if stray else []
    yield Setting(
        name="members",
        needed="each registered host in the freepool or in the aggregate of a reservation, and no other host",
        present="; ".join(parts) or "as needed",
        state=State.WRONG if parts else State.RIGHT,
        why="a registered host outside takes servers of everybody; another host inside takes none",
    )


def _of_filters(conf: NovaConf | None, strangers: Sequence[Server]) -> Iterator[Setting]:
    for key, needed, why in (
        ("available_filters", FILTER, "nova-scheduler finds the filter only if it is listed"),
        ("enabled_filters", "BlazarFilter", "it keeps servers without a reservation off reservable hosts"),
    ):
        values = [] if conf is None else conf.all_of("filter_scheduler", key)
        listed = {each.strip() for value in values for each in value.split(",")}
        present = ", ".join(values) or "not set"
        yield Setting(
            name=f"[filter_scheduler] {key}",
            needed=f"contains {needed}",
            present=_NOT_SEEN if conf is None else present,
            state=State.UNKNOWN if conf is None else State.RIGHT if needed in listed else State.WRONG,
            why=why,
        )
    names = first_few(sorted(f"{each.id} on {each.service_host}" for each in strangers))
    yield Setting(
        name="effect of BlazarFilter",
        needed="no server without a reservation on hosts of the freepool",
        present=names or "no such server",
        state=State.WRONG if strangers else State.RIGHT,
        why="such servers were placed without the filter, or before the host was registered",
    )


def _of_names(conf: NovaConf | None, settings: HostSettings) -> Iterator[Setting]:
    for key, default, needed in (
        ("aggregate_freepool_name", "freepool", settings.freepool_name),
        ("blazar_owner", "blazar:owner", settings.owner_key),
        ("blazar_az_prefix", "blazar_", settings.availability_zone_prefix),
    ):
        present = None if conf is None else conf.last_of("blazar:physical:host", key, default)
        yield Setting(
            name=f"[blazar:physical:host] {key}",
            needed=needed,
            present=_NOT_SEEN if present is None else present,
            state=_compared(present, needed),
            why="the filter must use the names that blazar.conf has",
        )


def _of_scheduling(conf: NovaConf | None, hosts: int) -> Iterator[Setting]:
    results = None if conf is None else conf.last_of("scheduler", "max_placement_results")
    number = int(results) if results and results.isdecimal() else _DEFAULT_PLACEMENT_RESULTS
    is_enough = hosts <= number
    yield Setting(
        name="[scheduler] max_placement_results",
        needed=f"at least {hosts}, the number of hosts",
        present=_NOT_SEEN if conf is None else str(number),
        state=State.UNKNOWN if conf is None else State.RIGHT if is_enough else State.WRONG,
        why="otherwise, a reserved host may not be among the hosts that Placement proposes",
    )
    zone = None if conf is None else conf.last_of("DEFAULT", "default_schedule_zone")
    yield Setting(
        name="[DEFAULT] default_schedule_zone",
        needed="not set",
        present=_NOT_SEEN if zone is None else zone or "not set",
        state=State.UNKNOWN if zone is None else State.WRONG if zone else State.RIGHT,
        why="reserved hosts are in zones of their own, in which servers without a zone would not be placed",
    )


def _compared(present: str | None, needed: str) -> State:
    if present is None:
        return State.UNKNOWN
    return State.RIGHT if present == needed else State.WRONG


def advise_on_extra_specs(
    flavors: Iterable[Flavor], found: CloudHosts, settings: HostSettings
) -> ExtraSpecsAdvice:
    """Return whether AggregateInstanceExtraSpecsFilter is needed.

    Reservations do not need it. Flavors of the cloud need it if they name metadata of aggregates.
    """
    known = {key for each in found.aggregates for key in each.metadata}
    using = {
        each.name: keys
        for each in flavors
        if id_of_name(each.name) is None and (keys := _aggregate_keys(each, known))
    }
    reservable = {each.service_host for each in found.hosts if each.pool is Pool.RESERVABLE}
    leaving = {
        key
        for host in reservable
        for zone in find_zones(found.aggregates, host)
        if not is_of_reservation(zone, settings)
        for key in zone.metadata
    }
    names = tuple(sorted(using))
    return ExtraSpecsAdvice(
        is_needed=bool(using),
        flavors=names,
        hampered=tuple(each for each in names if using[each] & leaving),
        why=_why(names),
    )


def _aggregate_keys(flavor: Flavor, known: Collection[str]) -> frozenset[str]:
    """Return the keys of aggregates' metadata that a flavor names, as the filter reads them."""
    scoped = {key.partition(":")[2] for key in flavor.extra_specs if key.partition(":")[0] == _SCOPE} - {
        "reservation"
    }
    return frozenset(scoped | {key for key in flavor.extra_specs if ":" not in key and key in known})


def _why(flavors: Sequence[str]) -> str:
    common = (
        "Reservations do not need it: BlazarFilter places servers on reserved hosts by the owner in the"
        " metadata of the reservation's aggregate, and servers of reserved instances take a resource class of"
        " their own in Placement. If it is enabled, it does not disturb: the aggregate of a reservation has"
        " the metadata that the flavor of the reservation names"
    )
    if not flavors:
        return f"{common}. No flavor of this cloud names metadata of aggregates either"
    return f"{common}. Flavors of this cloud need it, because they name metadata of aggregates: " + first_few(
        list(flavors)
    )
