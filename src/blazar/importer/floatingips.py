"""Import of registered floating IPs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from blazar.domain.errors import InvalidParameter
from blazar.domain.health import HEALTHY
from blazar.domain.lease import ResourceId
from blazar.importer.hosts import NOT_RESERVABLE
from blazar.importer.ledger import Fate, Kind, Ledger, Table
from blazar.importer.present import Present
from blazar.plugins.floatingips.floatingip import FloatingIP, parse_address
from blazar.ports.old_service import OldDatabase, OldFloatingIP


def plan_floatingips(
    old: OldDatabase, present: Present, ledger: Ledger
) -> tuple[tuple[FloatingIP, ...], Mapping[str, str]]:
    """Return the floating IPs to add, and for each row left out in favour of another, the id of that one.

    Ids are kept, addresses are converted to canonical form.
    """
    places = {(each.network_id, each.address): str(each.id) for each in present.floatingips.values()}
    added = []
    uses = Counter(each.resource_id for each in old.floatingip_allocations)
    # Of two rows with one address, the one in use is chosen, then the older one.
    for each in sorted(old.floatingips, key=lambda each: (-uses[each.id], str(each.created_at), each.id)):
        subject = f"floating IP {each.id}"
        address = _address(each)
        if each.id in present.floatingips:
            ledger.count(Table.FLOATINGIPS, Fate.HERE)
            _compare(address, present.floatingips[each.id], subject, ledger)
        elif subject in present.imported_before:
            ledger.leave_out(Table.FLOATINGIPS, Kind.GONE_HERE, subject, f"{each.address} was removed here")
        elif subject in present.refused:
            ledger.leave_out(Table.FLOATINGIPS, Kind.BAD_ID, subject, present.refused[subject])
        elif address is None:
            reason = f"{each.address!r} is not an IP address"
            ledger.leave_out(Table.FLOATINGIPS, Kind.NO_ADDRESS, subject, reason)
        elif (each.network_id, address) in places:
            reason = f"{address} is also registered as {places[each.network_id, address]}, which is kept"
            ledger.leave_out(Table.FLOATINGIPS, Kind.FLOATINGIP_DUPLICATE, subject, reason)
        else:
            places[each.network_id, address] = each.id
            ledger.count(Table.FLOATINGIPS, Fate.IMPORTED)
            if not each.is_reservable:
                ledger.find(Kind.NOT_RESERVABLE, subject, f"{address}: reservable is false")
            added.append(_floatingip(each, address))
    known = {*present.floatingips, *(each.id for each in added)}
    others = [each for each in old.floatingips if each.id not in known]
    keys = {each.id: (each.network_id, _address(each)) for each in others}
    return tuple(added), {own: places[key] for own, key in keys.items() if key in places}


def _floatingip(old: OldFloatingIP, address: str) -> FloatingIP:
    return FloatingIP(
        id=ResourceId(old.id),
        network_id=old.network_id,
        subnet_id=old.subnet_id,
        address=address,
        diagnosis=HEALTHY if old.is_reservable else NOT_RESERVABLE,
        created_at=old.created_at,
        updated_at=old.updated_at,
    )


def _address(old: OldFloatingIP) -> str | None:
    try:
        return str(parse_address("floating_ip_address", old.address))
    except InvalidParameter:
        return None


def _compare(address: str | None, floatingip: FloatingIP, subject: str, ledger: Ledger) -> None:
    if address != floatingip.address:
        ledger.find(Kind.DIFFERS, subject, f"{address} there and {floatingip.address} here")
