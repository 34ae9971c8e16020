"""Import of hosts, with their properties, capabilities, inventories and traits."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.lease import ResourceId
from blazar.domain.plugin_resources import ResourceProperty
from blazar.domain.providers import HostProvider, Inventory
from blazar.importer.ledger import Fate, Kind, Ledger, Table
from blazar.importer.present import Present
from blazar.plugins.hosts.host import Host
from blazar.ports.old_service import OldDatabase, OldHost, OldInventory, OldProperty

_NAMESPACE = uuid.UUID("0f3c1a52-3b1e-5a57-8a0c-0f7f3a1d9c11")
_OF_HOSTS = "physical:host"
_LONGEST_TEXT = 255
_LONGEST_PROVIDER_NAME = 200
NOT_RESERVABLE = Diagnosis(health=Health.DISABLED, problem="was not reservable when it was imported")


def plan_properties(old: OldDatabase, present: Present, ledger: Ledger) -> tuple[ResourceProperty, ...]:
    """Return the properties to add; ids are kept."""
    known = {(each.resource_type, each.name) for each in present.properties}
    ids = {each.id for each in present.properties}
    added: dict[tuple[str, str], ResourceProperty] = {}
    for each in old.properties:
        key = (each.resource_type, each.name)
        if key in known or each.id in ids:
            ledger.count(Table.PROPERTIES, Fate.HERE)
        elif key in added:
            subject = f"resource property {each.id}"
            reason = f"{each.name} is also the name of {added[key].id}"
            ledger.leave_out(Table.PROPERTIES, Kind.PROPERTY_DUPLICATE, subject, reason)
        else:
            ledger.count(Table.PROPERTIES, Fate.IMPORTED)
            added[key] = ResourceProperty(
                id=each.id,
                resource_type=each.resource_type,
                name=each.name,
                is_private=each.is_private,
                created_at=each.created_at,
                updated_at=each.updated_at,
            )
    return tuple(added.values())


def plan_hosts(
    old: OldDatabase, present: Present, ledger: Ledger
) -> tuple[tuple[Host, ...], Mapping[str, str]]:
    """Return the hosts to add, and for each row left out in favour of another host, the id of that host."""
    chosen, kept_ids = _without_duplicates(old, present, ledger)
    inventories = _inventories(old, chosen, present, ledger)
    traits = _traits(old, chosen, present, ledger)
    capabilities = _capabilities(old, chosen, present, ledger)
    hosts = []
    for each in chosen.values():
        if not inventories[each.id]:
            reason = f"{each.vcpus} VCPU, {each.memory_mb} MEMORY_MB, {each.local_gb} DISK_GB"
            ledger.find(Kind.NO_INVENTORY, _subject(each), reason)
        if not each.is_reservable:
            ledger.find(Kind.NOT_RESERVABLE, _subject(each), "reservable is false")
        if not each.trust_id:
            ledger.find(Kind.NO_TRUST, _subject(each), "trust_id is empty")
        provider = HostProvider(
            # The existing service does not store Placement's id; the first refresh replaces all of this.
            uuid=str(uuid.uuid5(_NAMESPACE, each.id)),
            name=_hostname(each)[:_LONGEST_PROVIDER_NAME],
            inventories=inventories[each.id] or _from_columns(each),
            traits=frozenset(traits[each.id]),
        )
        hosts.append(_host(each, provider, capabilities[each.id]))
    return tuple(hosts), kept_ids


def _host(old: OldHost, provider: HostProvider, capabilities: Mapping[str, str]) -> Host:
    return Host(
        id=ResourceId(old.id),
        hypervisor_hostname=_hostname(old),
        service_name=old.service_name or _hostname(old),
        hypervisor_type=old.hypervisor_type[:_LONGEST_TEXT],
        hypervisor_version=old.hypervisor_version,
        vcpus=old.vcpus,
        memory_mb=old.memory_mb,
        local_gb=old.local_gb,
        cpu_info=old.cpu_info,
        availability_zone=old.availability_zone or "",
        diagnosis=HEALTHY if old.is_reservable else NOT_RESERVABLE,
        capabilities=capabilities,
        providers=(provider,),
        created_at=old.created_at,
        updated_at=old.updated_at,
    )


def _hostname(old: OldHost) -> str:
    return old.hypervisor_hostname or old.service_name or ""


def _subject(old: OldHost) -> str:
    return f"host {old.id}"


def _without_duplicates(
    old: OldDatabase, present: Present, ledger: Ledger
) -> tuple[Mapping[str, OldHost], Mapping[str, str]]:
    """Return the hosts to add, by id, and the ids of hosts by the ids of other rows with their names."""
    names = {each.hypervisor_hostname: str(each.id) for each in present.hosts.values()}
    uses = Counter(each.resource_id for each in old.host_allocations)
    chosen: dict[str, OldHost] = {}
    # Of two rows with one name, the one in use is chosen, then the newer one.
    by_use = sorted(old.hosts, key=lambda each: (uses[each.id], str(each.created_at), each.id), reverse=True)
    for each in by_use:
        name = _hostname(each)
        if each.id in present.hosts:
            ledger.count(Table.HOSTS, Fate.HERE)
            _compare(each, present.hosts[each.id], ledger)
        elif _subject(each) in present.imported_before:
            ledger.leave_out(Table.HOSTS, Kind.GONE_HERE, _subject(each), f"{name} was removed here")
        elif _subject(each) in present.refused:
            ledger.leave_out(Table.HOSTS, Kind.BAD_ID, _subject(each), present.refused[_subject(each)])
        elif not name:
            ledger.leave_out(Table.HOSTS, Kind.NO_NAME, _subject(each), "hypervisor_hostname is null")
        elif name in names:
            reason = f"{name} is also host {names[name]}, which is kept"
            ledger.leave_out(Table.HOSTS, Kind.HOST_DUPLICATE, _subject(each), reason)
        else:
            names[name] = each.id
            chosen[each.id] = each
            ledger.count(Table.HOSTS, Fate.IMPORTED)
    known = chosen.keys() | present.hosts.keys()
    others = [each for each in old.hosts if each.id not in known and _hostname(each) in names]
    return (
        {each.id: each for each in old.hosts if each.id in chosen},
        {each.id: names[_hostname(each)] for each in others},
    )


def _compare(old: OldHost, host: Host, ledger: Ledger) -> None:
    if _hostname(old) != host.hypervisor_hostname:
        reason = f"hypervisor_hostname is {_hostname(old)} there and {host.hypervisor_hostname} here"
        ledger.find(Kind.DIFFERS, _subject(old), reason)


def _fate(host_id: str | None, chosen: Mapping[str, OldHost], present: Present) -> Fate:
    """Return the fate of a row that belongs to a host."""
    if host_id in chosen:
        return Fate.IMPORTED
    return Fate.HERE if host_id in present.hosts else Fate.LEFT_OUT


def _inventories(
    old: OldDatabase, chosen: Mapping[str, OldHost], present: Present, ledger: Ledger
) -> Mapping[str, Mapping[str, Inventory]]:
    found: dict[str, dict[str, Inventory]] = defaultdict(dict)
    for each in old.inventories:
        subject, fate = f"inventory {each.id}", _fate(each.host_id, chosen, present)
        if fate is Fate.LEFT_OUT:
            ledger.leave_out(Table.INVENTORIES, Kind.LOOSE_ROW, subject, f"of host {each.host_id}")
        elif fate is Fate.IMPORTED and each.resource_class in found[each.host_id or ""]:
            reason = f"host {each.host_id} has two of {each.resource_class}"
            ledger.leave_out(Table.INVENTORIES, Kind.LOOSE_ROW, subject, reason)
        else:
            ledger.count(Table.INVENTORIES, fate)
            found[each.host_id or ""][each.resource_class] = _inventory(each)
    return found


def _inventory(old: OldInventory) -> Inventory:
    return Inventory(
        total=old.total,
        reserved=old.reserved,
        min_unit=old.min_unit,
        max_unit=old.max_unit,
        step_size=max(1, old.step_size),
        allocation_ratio=old.allocation_ratio,
    )


def _from_columns(old: OldHost) -> Mapping[str, Inventory]:
    totals = {"VCPU": old.vcpus, "MEMORY_MB": old.memory_mb, "DISK_GB": old.local_gb}
    return {name: Inventory(total=total, max_unit=total) for name, total in totals.items() if total > 0}


def _traits(
    old: OldDatabase, chosen: Mapping[str, OldHost], present: Present, ledger: Ledger
) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for each in old.traits:
        fate = _fate(each.host_id, chosen, present)
        if fate is Fate.LEFT_OUT:
            reason = f"of host {each.host_id}"
            ledger.leave_out(Table.TRAITS, Kind.LOOSE_ROW, f"trait {each.id}", reason)
        else:
            ledger.count(Table.TRAITS, fate)
            found[each.host_id or ""].add(each.trait)
    return found


def _capabilities(
    old: OldDatabase, chosen: Mapping[str, OldHost], present: Present, ledger: Ledger
) -> Mapping[str, Mapping[str, str]]:
    names = _property_names(old.properties)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    newest_first = sorted(old.capabilities, key=lambda each: (str(each.created_at), each.id), reverse=True)
    for each in newest_first:
        name, fate = names.get(each.property_id or ""), _fate(each.host_id, chosen, present)
        subject = f"extra capability {each.id}"
        if fate is Fate.LEFT_OUT or name is None:
            reason = f"of host {each.host_id} and resource property {each.property_id}"
            ledger.leave_out(Table.CAPABILITIES, Kind.LOOSE_ROW, subject, reason)
        elif fate is Fate.IMPORTED and name in found[each.host_id or ""]:
            reason = f"host {each.host_id} has a later {name}"
            ledger.leave_out(Table.CAPABILITIES, Kind.LOOSE_ROW, subject, reason)
        else:
            ledger.count(Table.CAPABILITIES, fate)
            found[each.host_id or ""][name] = each.value
    return found


def _property_names(properties: Sequence[OldProperty]) -> Mapping[str, str]:
    return {each.id: each.name for each in properties if each.resource_type == _OF_HOSTS}
