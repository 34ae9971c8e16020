"""Comparing registered floating IPs with Neutron, before one that cannot be had hurts a lease."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address

from blazar.booking.context import Context
from blazar.booking.health import record_health
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.floatingips import FloatingIP
from blazar.domain.health import SOUND, Diagnosis, Health
from blazar.domain.subnets import Subnet, find_obstacle
from blazar.plugins.floatingips.names import is_of_reservation, say_in_use
from blazar.ports.floatingips import Holder
from blazar.ports.network import FloatingIP as Existing
from blazar.ports.network import Network

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """What Neutron says of one network."""

    network: Network | None
    subnets: tuple[Subnet, ...]
    existing: Mapping[str, Existing]
    """The floating IPs at registered addresses, by address."""


def check_floatingips(
    context: Context, actor: str, *, before_each: Callable[[], None] = lambda: None
) -> Mapping[str, str]:
    """Note which registered floating IPs have failed, and which are sound again.

    One has failed that Neutron gives to anybody by now, that is somebody's, or whose subnet is gone.
    What a lease that runs has made at its own address is as it should be.

    Args:
        context: The context.
        actor: Who checks, for the journal.
        before_each: Called before each of many steps; what it raises ends the check.

    Returns:
        What is wrong with those that have failed, by address.

    Raises:
        CloudUnavailable: Neutron does not answer; what was noted so far stays.
    """
    with context.store.read() as transaction:
        registered = transaction.floatingips.list()
        before = transaction.floatingips.list_holders()
    views = {}
    for network_id in sorted({each.network_id for each in registered}):
        before_each()
        addresses = [each.address for each in registered if each.network_id == network_id]
        try:
            views[network_id] = _look(context, network_id, addresses)
        except (CloudConflict, CloudNotFound, CloudRefused) as error:
            _logger.warning("floating IPs of network %s cannot be checked: %s", network_id, error)
    with context.store.read() as transaction:
        registered = transaction.floatingips.list()
        # Who came since, and who has gone, may have made what Neutron showed.
        after = transaction.floatingips.list_holders()
    failed = {}
    for each in registered:
        if each.network_id not in views:
            continue
        holders = (*before.get(each.id, ()), *after.get(each.id, ()))
        problem = _find_problem(each, views[each.network_id], holders, context.clock.now())
        if problem:
            failed[each.address] = problem
        diagnosis = Diagnosis(health=Health.FAILED, problem=problem) if problem else SOUND
        if diagnosis != each.diagnosis:
            before_each()
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
    """Return what is wrong with a floating IP; empty for nothing."""
    if view.network is None:
        return f"Neutron has no network {floatingip.network_id} any more"
    if not view.network.is_external:
        return f"network {floatingip.network_id} is not external any more"
    obstacle = find_obstacle(ip_address(floatingip.address), view.subnets)
    if obstacle is not None:
        return f"{floatingip.address} {obstacle}"
    if all(each.id != floatingip.subnet_id for each in view.subnets):
        return f"Neutron has no subnet {floatingip.subnet_id} any more"
    existing = view.existing.get(floatingip.address)
    if existing is None or any(
        each.start <= now and is_of_reservation(existing, each.reservation_id, each.project_id)
        for each in holders
    ):
        return ""
    return say_in_use(existing)
