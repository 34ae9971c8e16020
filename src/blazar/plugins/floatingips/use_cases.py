"""Use cases of floating IPs: registration and removal of reservable addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blazar.booking.cloud_errors import cloud_errors_as_conflicts
from blazar.booking.context import Context
from blazar.booking.filters import parse_flag, text_of
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import reschedule_missing
from blazar.booking.views import JsonObject, health_view
from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.domain.formats import CHANGED
from blazar.domain.lease import ResourceId
from blazar.domain.paging import parse_page
from blazar.domain.subnets import Address, Subnet, find_obstacle, find_subnet
from blazar.plugins.floatingips.errors import (
    FloatingIPAlreadyRegistered,
    FloatingIPInUse,
    FloatingIPNotFound,
    FloatingIPReserved,
)
from blazar.plugins.floatingips.floatingip import FloatingIP, parse_address
from blazar.plugins.floatingips.names import say_in_use
from blazar.plugins.floatingips.store import FLOATING_IP_STORE, FloatingIPFilter
from blazar.plugins.floatingips.views import floatingip_view
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_NETWORK, _ADDRESS = "floating_network_id", "floating_ip_address"
_LONGEST_ID = 36
_SORT_KEYS: Final = ("created_at", _ADDRESS, "id")


def list_floatingips(
    context: Context, caller: Caller, page: JsonObject | None = None
) -> Sequence[JsonObject]:
    """Return the registered floating IPs, or a page of them.

    Raises:
        InvalidParameter: A part of *page* is invalid, or its marker is unknown.
    """
    if page is None:
        with context.store.read() as transaction:
            return [_read_view(each, caller) for each in transaction.of(FLOATING_IP_STORE).list()]
    asked = parse_page(page, _SORT_KEYS)
    address = text_of(page, _ADDRESS)
    which = FloatingIPFilter(
        network_id=text_of(page, _NETWORK),
        address=None if address is None else str(parse_address(_ADDRESS, address)),
        is_reservable=parse_flag(page, "reservable"),
    )
    with context.store.read() as transaction:
        store = transaction.of(FLOATING_IP_STORE)
        ids = store.list_page(which, asked)
        found = {each.id: each for each in store.get_many(ids)}
    return [_read_view(found[each], caller) for each in ids]


def get_floatingip(context: Context, caller: Caller, floatingip_id: str) -> JsonObject:
    """Return a floating IP. Raises FloatingIPNotFound."""
    with context.store.read() as transaction:
        return _read_view(_get(transaction, floatingip_id), caller)


def _read_view(floatingip: FloatingIP, caller: Caller) -> JsonObject:
    return {**health_view(floatingip.diagnosis, caller), **floatingip_view(floatingip)}


@cloud_errors_as_conflicts()
def create_floatingip(context: Context, body: JsonObject) -> JsonObject:
    """Register an address of an external network that Neutron never allocates automatically, and return it.

    Raises:
        BadRequest: A key is missing or malformed, the external network does not exist, or the address
            cannot be reserved.
        FloatingIPAlreadyRegistered: The address is already registered.
        FloatingIPInUse: The address is in use in Neutron.
        CloudDisagrees: Neutron refuses to answer.
    """
    network_id, address = _parse(body)
    with context.store.read() as transaction:
        if transaction.of(FLOATING_IP_STORE).find_by_address(network_id, str(address)) is not None:
            raise FloatingIPAlreadyRegistered(
                f"Floating IP {address} of network {network_id} is already registered"
            )
    subnet = _find_place(context, network_id, address)
    taken = context.cloud.networks.list_floating_ips(network_id=network_id, addresses=[str(address)])
    if taken:
        raise FloatingIPInUse(f"{_ADDRESS}: {say_in_use(taken[0])}")
    floatingip = FloatingIP(
        id=ResourceId(context.new_id()),
        network_id=network_id,
        subnet_id=subnet.id,
        address=str(address),
        created_at=context.clock.now(),
    )
    with context.store.begin() as transaction:
        transaction.of(FLOATING_IP_STORE).insert(floatingip)
        reschedule_missing(context, transaction)
        transaction.commit()
    context.waker.wake()
    return floatingip_view(floatingip, CHANGED)


def delete_floatingip(context: Context, floatingip_id: str) -> None:
    """Remove a floating IP from the registered ones; Neutron is not changed.

    Raises:
        FloatingIPNotFound: No such floating IP is registered.
        FloatingIPReserved: A lease holds it, now or later, or it is being cleaned.
    """
    retrying(context, lambda _: _delete_once(context, floatingip_id))


def _delete_once(context: Context, floatingip_id: str) -> None:
    with context.store.begin() as transaction:
        # Cleaned allocations no longer count, even if the sweep has not purged them yet.
        transaction.allocations.purge_released(context.clock.now() - context.settings.leases.cleaning_time)
        floatingip = _get(transaction, floatingip_id)
        if transaction.allocations.count_on(floatingip.id):
            raise FloatingIPReserved(
                f"Floating IP {floatingip.id} is reserved, now or later, or is being cleaned"
            )
        transaction.allocations.claim({floatingip.id: floatingip.generation})
        transaction.work.schedule(transaction.resources.list_holders(floatingip.id), context.clock.now())
        transaction.of(FLOATING_IP_STORE).delete(floatingip.id)
        transaction.commit()


def _get(transaction: Transaction, floatingip_id: str) -> FloatingIP:
    floatingip = transaction.of(FLOATING_IP_STORE).find(floatingip_id)
    if floatingip is None:
        raise FloatingIPNotFound(floatingip_id[:64])
    return floatingip


def _parse(body: JsonObject) -> tuple[str, Address]:
    missing = [key for key in (_NETWORK, _ADDRESS) if body.get(key) is None]
    if missing:
        raise MissingParameter(*missing)
    network_id = body[_NETWORK]
    if not isinstance(network_id, str) or not network_id or len(network_id) > _LONGEST_ID:
        raise InvalidParameter(_NETWORK, "must be the id of a network")
    return network_id, parse_address(_ADDRESS, body[_ADDRESS])


def _find_place(context: Context, network_id: str, address: Address) -> Subnet:
    """Return the subnet of an address that can be reserved. Raises InvalidParameter."""
    network = context.cloud.networks.find_network(network_id)
    if network is None or network.id != network_id:
        raise InvalidParameter(_NETWORK, f"Neutron has no network {network_id}")
    if not network.is_external:
        raise InvalidParameter(_NETWORK, f"network {network_id} is not external")
    subnets = context.cloud.networks.list_subnets(network_id)
    obstacle, subnet = find_obstacle(address, subnets), find_subnet(address, subnets)
    if obstacle is not None or subnet is None:
        raise InvalidParameter(_ADDRESS, f"{address} {obstacle}")
    return subnet
