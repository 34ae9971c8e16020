"""``blazar-status check cloud``: checks that the cloud is as reservations of hosts need it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from oslo_upgradecheck import upgradecheck

from blazar.booking.context import Context
from blazar.cmd.leftover_check import check_leftovers
from blazar.cmd.problems import sentence
from blazar.domain.lease import is_canonical_id
from blazar.domain.providers import HostProvider
from blazar.domain.wording import first_few
from blazar.planning.nova import (
    EXTRA_SPECS_FILTER,
    NovaConf,
    Setting,
    State,
    advise_on_extra_specs,
    compare_aggregates,
    compare_scheduler,
    reserved_hosts,
)
from blazar.planning.reading import CloudHosts, Grouping, read_hosts
from blazar.plugins.hosts.description import diagnose, read_providers
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.zones import is_of_reservation, pooled_hosts
from blazar.plugins.slots.names import provider_name
from blazar.ports.clock import ReferenceClock
from blazar.ports.placement import Placement

_SHOWN: Final = 10
"""Maximum number of cases named in one message."""
_REFRESH: Final = "run blazar-manage host refresh"

Result = upgradecheck.Result
SUCCESS, WARNING, FAILURE = (
    upgradecheck.Code.SUCCESS,
    upgradecheck.Code.WARNING,
    upgradecheck.Code.FAILURE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """The providers of a host in Placement."""

    present: tuple[HostProvider, ...]
    """As Placement has them now, root first; empty if it has none."""
    has_own: bool
    """Whether the provider for reservations of instances exists, below the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCloud:
    """The state of the cloud, read once for all checks."""

    found: CloudHosts
    trees: Mapping[str, Trees]
    """Of each registered host, by its name."""


class CloudChecks(upgradecheck.UpgradeCommands):
    """The checks of ``check cloud``, in the form of those of an upgrade."""

    display_title = "Cloud Check Results"

    def __init__(
        self,
        make_context: Callable[[], Context],
        *,
        nova_conf: NovaConf | None,
        reference: Callable[[], ReferenceClock | None],
    ) -> None:
        """Create the checks; nothing is read yet.

        Args:
            make_context: Returns the context.
            nova_conf: The configuration of a nova-scheduler; None if it is not known.
            reference: Returns the clock of the database; None if it is that of this machine.
        """
        self._make_context = make_context
        self._conf = nova_conf
        self._reference = reference
        self._seen: SeenCloud | None = None

    def _check_freepool(self) -> Result:
        return self._look(check_freepool)

    def _check_hosts(self) -> Result:
        return self._look(check_hosts)

    def _check_zones(self) -> Result:
        return self._look(check_zones)

    def _check_filter(self) -> Result:
        return self._look(lambda context, seen: check_filter(context, seen, self._conf))

    def _check_extra_specs(self) -> Result:
        return self._look(lambda context, seen: check_extra_specs(context, seen, self._conf))

    def _check_traits(self) -> Result:
        return self._look(check_traits)

    def _check_providers(self) -> Result:
        return self._look(check_providers)

    def _check_leftovers(self) -> Result:
        return _guarded(lambda: check_leftovers(self._make_context()))

    def _check_clock(self) -> Result:
        return _guarded(lambda: check_clock(self._make_context(), self._reference()))

    _upgrade_checks = (
        ("Freepool", _check_freepool),
        ("Hosts", _check_hosts),
        ("Zones", _check_zones),
        ("Scheduler filter", _check_filter),
        ("Aggregate extra specs", _check_extra_specs),
        ("Traits", _check_traits),
        ("Nested providers", _check_providers),
        ("Leftovers", _check_leftovers),
        ("Clock", _check_clock),
    )

    def _look(self, check: Callable[[Context, SeenCloud], Result]) -> Result:
        return _guarded(lambda: check(self._make_context(), self._see()))

    def _see(self) -> SeenCloud:
        if self._seen is None:
            self._seen = see_cloud(self._make_context())
        return self._seen


def _guarded(check: Callable[[], Result]) -> Result:
    """Return the result of a check, or a warning that it could not be made."""
    try:
        return check()
    except Exception as error:
        return Result(WARNING, f"Not checked: {sentence(error)}")


def see_cloud(context: Context) -> SeenCloud:
    """Return the state of the cloud. Raises CloudError."""
    found, cloud = read_hosts(context, Grouping()), context.cloud
    names = sorted(found.registered)
    trees = cloud.executor.run([partial(_read_trees, cloud.placement, each) for each in names])
    return SeenCloud(
        found=found,
        trees=dict(zip(names, trees, strict=True)),
    )


def _read_trees(placement: Placement, name: str) -> Trees:
    root = placement.find_provider(name)
    if root is None:
        return Trees(present=(), has_own=False)
    own = placement.find_provider(provider_name(name))
    return Trees(
        present=read_providers(placement, name, root.uuid),
        has_own=own is not None and own.root_uuid == root.uuid,
    )


def check_freepool(context: Context, seen: SeenCloud) -> Result:
    """Return a failure if the freepool is missing or has a zone, or if its members are not the free hosts."""
    settings = context.settings.of(HostSettings)
    inside = len(pooled_hosts(seen.found.aggregates, settings))
    return _of_settings(compare_aggregates(context, seen.found)) or Result(
        SUCCESS, f"The aggregate {settings.freepool_name} has {inside} hosts"
    )


def check_hosts(context: Context, seen: SeenCloud) -> Result:
    """Return a failure for registered hosts that Nova or Placement does not know, a warning for others."""
    unknown, unwell = [], []
    for name in sorted(seen.found.registered):
        hypervisor = seen.found.hypervisors.get(name)
        if hypervisor is None:
            unknown.append(f"{name}: Nova does not know it")
        elif not seen.trees[name].present:
            unknown.append(f"{name}: Placement has no provider of this name")
        elif problem := diagnose(hypervisor).problem:
            unwell.append(f"{name}: {problem}")
    if unknown:
        return Result(FAILURE, f"Registered hosts: {first_few(unknown, _SHOWN)}")
    if unwell:
        return Result(WARNING, f"Registered hosts: {first_few(unwell, _SHOWN)}")
    return Result(SUCCESS, f"Nova and Placement know all {len(seen.found.registered)} registered hosts")


def check_zones(context: Context, seen: SeenCloud) -> Result:
    """Return a failure for zones that look like those of reservations, a warning for changed ones."""
    settings = context.settings.of(HostSettings)
    foreign = [
        f"aggregate {each.name} is in zone {each.availability_zone}"
        for each in seen.found.aggregates
        if is_of_reservation(each, settings) and not is_canonical_id(each.name)
    ]
    if foreign:
        prefix = settings.availability_zone_prefix
        text = f"{first_few(foreign, _SHOWN)}; names that begin with {prefix} are those of reservations"
        return Result(FAILURE, text)
    moved = [*_moved_zones(seen, settings)] if settings.az_aware else []
    if moved:
        return Result(WARNING, f"Zones have changed: {first_few(moved, _SHOWN)}; {_REFRESH}")
    zones = sorted({each.zone for each in seen.found.hosts if each.is_reservable})
    return Result(SUCCESS, f"Reservable hosts are in the zones {', '.join(zones) or '(none)'}")


def _moved_zones(seen: SeenCloud, settings: HostSettings) -> Iterator[str]:
    away = reserved_hosts(seen.found.aggregates, settings)
    for name, host in sorted(seen.found.registered.items()):
        zone = seen.found.zones.get(host.service_name)
        if zone is not None and host.service_name not in away and zone != host.availability_zone:
            yield f"{name} was in {host.availability_zone or 'none'} and is in {zone}"


def check_filter(context: Context, seen: SeenCloud, conf: NovaConf | None) -> Result:
    """Return a failure if BlazarFilter is not configured or has no effect, as far as it can be seen."""
    problem = _of_settings(compare_scheduler(seen.found, context.settings.of(HostSettings), conf))
    if problem is not None:
        return problem
    if conf is None:
        text = "No server without a reservation is on hosts of the freepool; --nova-conf FILE checks more"
        return Result(SUCCESS, text)
    return Result(SUCCESS, f"{conf.name} is as reservations need it")


def check_extra_specs(context: Context, seen: SeenCloud, conf: NovaConf | None) -> Result:
    """Return a warning if flavors cannot be used on reserved hosts because of the aggregates they name."""
    flavors = context.cloud.flavors.list_flavors()
    specs = advise_on_extra_specs(flavors, seen.found, context.settings.of(HostSettings))
    enabled = "" if conf is None else ",".join(conf.all_of("filter_scheduler", "enabled_filters"))
    is_off = conf is not None and EXTRA_SPECS_FILTER not in enabled
    if is_off and specs.is_needed:
        names = first_few(list(specs.flavors), _SHOWN)
        return Result(WARNING, f"{EXTRA_SPECS_FILTER} is not enabled, but flavors need it: {names}")
    if specs.hampered and not is_off:
        names = first_few(list(specs.hampered), _SHOWN)
        return Result(
            WARNING,
            f"Servers of these flavors find no reserved host: {names}. They name metadata of aggregates with"
            " a zone, which a host leaves while it is reserved; put the metadata on aggregates without one",
        )
    return Result(SUCCESS, "No flavor needs metadata that reserved hosts lose")


def check_traits(context: Context, seen: SeenCloud) -> Result:
    """Return a warning if traits differ from the recorded ones, on which reservations rely."""
    found = list(_differences(seen, lambda one, other: _traits(one) != _traits(other)))
    if found:
        return Result(
            WARNING, f"Traits have changed since hosts were read: {first_few(found, _SHOWN)}; {_REFRESH}"
        )
    traits = {each for host in seen.found.registered.values() for each in _traits(host.providers).values()}
    return Result(
        SUCCESS,
        f"The traits of all hosts are as recorded; they have {len(frozenset().union(*traits))} in all",
    )


def check_providers(context: Context, seen: SeenCloud) -> Result:
    """Return a failure if the freepool has hosts without the nested provider that instances need.

    Return a warning if inventories differ from the recorded ones.
    """
    pooled = pooled_hosts(seen.found.aggregates, context.settings.of(HostSettings))
    without = [
        name
        for name, host in sorted(seen.found.registered.items())
        if host.service_name in pooled and seen.trees[name].present and not seen.trees[name].has_own
    ]
    if without:
        return Result(
            FAILURE,
            f"Placement has no nested provider {provider_name('<host>')} for {first_few(without, _SHOWN)},"
            " which instances need: remove the host and register it again",
        )
    changed = list(_differences(seen, lambda one, other: _inventories(one) != _inventories(other)))
    if changed:
        return Result(
            WARNING,
            f"Inventories have changed since hosts were read: {first_few(changed, _SHOWN)}; {_REFRESH}",
        )
    nested = sum(len(each.present) > 1 for each in seen.trees.values())
    return Result(SUCCESS, f"All providers are as recorded; {nested} hosts have nested ones of their own")


def check_clock(context: Context, reference: ReferenceClock | None) -> Result:
    """Return a failure if the clock differs from the database's by more than managers tolerate.

    Args:
        context: The context.
        reference: The clock of the database; None if it is that of this machine.
    """
    if reference is None:
        return Result(SUCCESS, "The database has the clock of this machine")
    reading, limit = reference.compare(context.clock), context.settings.reconciler.clock_limit
    difference = abs(reading.difference.total_seconds())
    text = f"The clock differs from the database's by {difference:.2f} s"
    if limit and abs(reading.difference) - reading.uncertainty > limit:
        return Result(FAILURE, f"{text}: managers stop at {limit.total_seconds():g} s")
    if limit and abs(reading.difference) - reading.uncertainty > limit / 2:
        return Result(WARNING, f"{text}: managers stop at {limit.total_seconds():g} s")
    return Result(SUCCESS, text)


def _of_settings(settings: Sequence[Setting]) -> Result | None:
    """Return a failure for the settings that are wrong, or None."""
    wrong = [
        f"{each.name}: {each.present}, but needed is: {each.needed}"
        for each in settings
        if each.state is State.WRONG
    ]
    return Result(FAILURE, first_few(wrong, _SHOWN)) if wrong else None


def _differences(seen: SeenCloud, differs: Any) -> Iterator[str]:
    for name, host in sorted(seen.found.registered.items()):
        present = seen.trees[name].present
        if present and differs(host.providers, present):
            yield name


def _traits(providers: Collection[HostProvider]) -> Mapping[str, frozenset[str]]:
    return {each.uuid: each.traits for each in providers}


def _inventories(providers: Collection[HostProvider]) -> Mapping[str, object]:
    return {each.uuid: dict(each.inventories) for each in providers}
