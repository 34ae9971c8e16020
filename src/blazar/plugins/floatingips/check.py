"""Comparison of registered floating IPs with Neutron, to find unusable ones before a lease needs them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address

from blazar.booking.context import Context
from blazar.booking.health import record_health
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.subnets import Subnet, find_obstacle
from blazar.plugins.floatingips.floatingip import FloatingIP, addresses_by_network
from blazar.plugins.floatingips.names import say_in_use
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.ports.allocations import Holder
from blazar.ports.network import FloatingIP as Existing
from blazar.ports.network import Network

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """The state of one network in Neutron."""

    network: Network | None
    subnets: tuple[Subnet, ...]
    existing: Mapping[str, Existing]
    """The floating IPs at registered addresses, by address."""


def check_floatingips(
    context: Context, actor: str, *, check_claim: Callable[[], None] = lambda: None
) -> Mapping[str, str]:
    """Update the health of registered floating IPs.

    A floating IP has failed if Neutron can now allocate its address to any project, if the address is in use,
    or if its subnet was deleted. A floating IP that a running lease created at its own address is healthy.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        check_claim: Called before each longer step; an exception from it ends the check.

    Returns:
        The problem of each failed floating IP, by address.

    Raises:
        CloudUnavailable: Neutron does not respond; results stored so far remain.
    """
    with context.store.read() as transaction:
        registered = transaction.of(FLOATING_IP_STORE).list()
        before = transaction.allocations.list_holders(FLOATING_IP_STORE.collection)
    views = {}
    for network_id, addresses in addresses_by_network(registered).items():
        check_claim()
        try:
            views[network_id] = _look(context, network_id, addresses)
        except (CloudConflict, CloudNotFound, CloudRefused) as error:
            _logger.warning("cannot check floating IPs: network=%s reason=%s", network_id, error)
    with context.store.read() as transaction:
        registered = transaction.of(FLOATING_IP_STORE).list()
        # A lease that started or ended since may explain what Neutron returned, so read the holders again.
        after = transaction.allocations.list_holders(FLOATING_IP_STORE.collection)
    failed = {}
    for each in registered:
        if each.network_id not in views:
            continue
        holders = (*before.get(each.id, ()), *after.get(each.id, ()))
        problem = _find_problem(each, views[each.network_id], holders, context.clock.now())
        if problem:
            failed[each.address] = problem
        diagnosis = Diagnosis(health=Health.FAILED, problem=problem) if problem else HEALTHY
        if diagnosis != each.diagnosis:
            check_claim()
            name = f"floating IP {each.address}"
            record_health(context, actor, each.id, name, diagnosis)
    return failed


def _look(context: Context, network_id: str, addresses: list[str]) -> _View:
    networks = context.cloud.networks
    found = networks.list_floating_ips(network_id=network_id, addresses=addresses)
    return _View(
        network=networks.find_network(network_id),
        subnets=networks.list_subnets(network_id),
        existing={each.address: each for each in found},
    )


def _find_problem(floatingip: FloatingIP, view: _View, holders: Iterable[Holder], now: datetime) -> str:
    """Return the problem of a floating IP; empty if it is healthy."""
    if view.network is None:
        return f"Neutron no longer has network {floatingip.network_id}"
    if not view.network.is_external:
        return f"network {floatingip.network_id} is no longer external"
    obstacle = find_obstacle(ip_address(floatingip.address), view.subnets)
    if obstacle is not None:
        return f"{floatingip.address} {obstacle}"
    if all(each.id != floatingip.subnet_id for each in view.subnets):
        return f"Neutron no longer has subnet {floatingip.subnet_id}"
    existing = view.existing.get(floatingip.address)
    if existing is None or any(
        each.start <= now and each.project_id == existing.project_id for each in holders
    ):
        return ""
    return say_in_use(existing)
