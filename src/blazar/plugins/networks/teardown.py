"""Removal of a network with everything that is on it, of any project, and of nothing else.

Neutron enforces this order of removals: trunks whose parent port is on the network, and subports of other
trunks; ports, whose floating IPs are only disassociated; extra routes of routers, and their interfaces; then
the network with its subnets. Servers lose their ports and keep running. Disabled trunks are enabled
before, and stay so if they are not deleted.

The lessee may add ports meanwhile, so rounds are repeated until Neutron deletes the network. They follow each
other at once as long as there are new ports: after a pause, there would be as many again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Final

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.plugins.contract import Done, Outcome, Result, ResultKind, Waiting
from blazar.ports.cloud import Cloud
from blazar.ports.segments import Port, Route, Segments, Trunk

_RETRY: Final = timedelta(seconds=2)
_PORTS_AT_ONCE: Final = 100
"""The most ports that one round deletes, so that it takes a bounded time."""
_ROUNDS: Final = 8
"""The most rounds of one step."""


def remove_network(cloud: Cloud, network_id: str, name: str = "") -> Outcome:
    """Delete a network; if Neutron refuses, first remove what is on it. *name* is for the result."""
    segments = cloud.segments
    deleted = (Result(ResultKind.DELETED, f"network {name or network_id}"),)
    reasons: tuple[str, ...] = ()
    refusal = _find_refusal(segments, network_id)
    for _ in range(_ROUNDS):
        if not refusal:
            return Done(deleted)
        ports = segments.list_ports(network_id)
        reasons = tuple(_clear(cloud, network_id, ports))
        refusal = _find_refusal(segments, network_id)
        if reasons or not ports:
            break
    reason = (*reasons, refusal)[0]
    if refusal:
        return Waiting(_RETRY, f"network {network_id} is being deleted: {reason}", deleted)
    return Done(deleted)


def list_used_ports(segments: Segments, network_id: str) -> tuple[Port, ...]:
    """Return the ports that users made on a network."""
    return tuple(each for each in segments.list_ports(network_id) if not each.is_of_neutron)


def _find_refusal(segments: Segments, network_id: str) -> str:
    """Delete a network; return why Neutron refuses, or an empty text if the network is gone."""
    try:
        segments.delete_network(network_id)
    except CloudNotFound:
        return ""
    except CloudConflict as error:
        return error.message or "Neutron still uses the network"
    return ""


def _clear(cloud: Cloud, network_id: str, ports: Sequence[Port]) -> Iterator[str]:
    """Remove ports of a network and what depends on them, in the order of Neutron; yield the obstacles."""
    segments = cloud.segments
    yield from _leave_trunks(segments, frozenset(each.id for each in ports))
    plain = [each for each in ports if not each.is_router_interface]
    for each in plain[:_PORTS_AT_ONCE]:
        yield from _try(partial(segments.delete_port, each.id))
    if len(plain) > _PORTS_AT_ONCE:
        yield f"{len(plain) - _PORTS_AT_ONCE} more ports are on network {network_id}"
        return
    for each in ports:
        if each.is_router_interface:
            yield from _leave_router(cloud, network_id, each)


def _leave_trunks(segments: Segments, port_ids: frozenset[str]) -> Iterator[str]:
    """Delete the trunks of ports, and take ports out of others; ports on other networks stay."""
    if not port_ids:
        return
    for trunk in segments.list_trunks():
        subports = trunk.subport_ids & port_ids
        if trunk.port_id in port_ids:
            yield from _try(partial(_delete_trunk, segments, trunk))
        elif subports:
            yield from _try(partial(_remove_subports, segments, trunk, subports))


def _remove_subports(segments: Segments, trunk: Trunk, port_ids: frozenset[str]) -> None:
    _enable(segments, trunk)
    segments.remove_subports(trunk.id, port_ids)


def _enable(segments: Segments, trunk: Trunk) -> None:
    """Enable a trunk if its project has disabled it; Neutron then refuses all changes, also to operators."""
    if not trunk.is_enabled:
        segments.enable_trunk(trunk.id)


def _delete_trunk(segments: Segments, trunk: Trunk) -> None:
    _enable(segments, trunk)
    try:
        segments.delete_trunk(trunk.id)
    except CloudConflict:
        # A server uses the parent port, which is about to be deleted.
        segments.unbind_port(trunk.port_id)
        segments.delete_trunk(trunk.id)


def _leave_router(cloud: Cloud, network_id: str, port: Port) -> Iterator[str]:
    """Remove an interface from its router, after the extra routes through the network."""
    segments, router_id = cloud.segments, port.device_id
    try:
        segments.remove_router_interface(router_id, port.id)
    except CloudNotFound:
        # The router is gone; usually, so is the port.
        yield from _try(partial(segments.delete_port, port.id))
    except CloudConflict:
        yield from _try(partial(_remove_routes, cloud, network_id, router_id))
        yield from _try(partial(segments.remove_router_interface, router_id, port.id))


def _remove_routes(cloud: Cloud, network_id: str, router_id: str) -> None:
    """Remove the extra routes of a router whose next hop is on the network."""
    subnets = [ip_network(each.cidr, strict=False) for each in cloud.networks.list_subnets(network_id)]
    routes: Sequence[Route] = [
        each
        for each in cloud.segments.list_routes(router_id)
        if any(ip_address(each.nexthop) in subnet for subnet in subnets)
    ]
    if routes:
        cloud.segments.remove_routes(router_id, routes)


def _try(removal: Callable[[], None]) -> Iterator[str]:
    """Remove an object; if Neutron refuses, yield the reason, because other removals do not depend on it."""
    try:
        removal()
    except CloudNotFound:
        return
    except (CloudConflict, CloudRefused) as error:
        yield error.message
