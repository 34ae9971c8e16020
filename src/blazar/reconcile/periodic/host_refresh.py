"""Bringing what is known of registered hosts up to date (behaviour 12, 54)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, replace

from blazar.booking.context import Context
from blazar.booking.health import have_missing_sought
from blazar.app.host_description import look_at_cloud, redescribe
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused, ConcurrentUpdate
from blazar.domain.hosts import HOST_DETAILS, Host
from blazar.ports.store import JournalEntry

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What a refresh came to: hosts by hypervisor host name."""

    changed: dict[str, str]
    """What is different now, in words."""
    failed: dict[str, str]
    """Why a host could not be refreshed."""
    unknown: tuple[str, ...]
    """Those that Nova does not know any more."""


def refresh_hosts(
    context: Context,
    actor: str,
    *,
    names: Collection[str] | None = None,
    before_each: Callable[[], None] = lambda: None,
) -> Refreshed:
    """Read registered hosts from Nova and Placement again, and store what has changed.

    Args:
        context: The context.
        actor: Who asks, for the journal.
        names: Hypervisor host names; None for all that are registered.
        before_each: Called before each host; what it raises ends the refresh.

    Raises:
        CloudUnavailable: Nova or Placement does not answer; what was stored so far stays.
    """
    with context.store.read() as transaction:
        providers = transaction.hosts.list_providers()
        hosts = [
            replace(each, providers=providers.get(each.id, ()))
            for each in transaction.hosts.list()
            if names is None or each.hypervisor_hostname in names
        ]
    view = look_at_cloud(context)
    result = Refreshed(
        changed={},
        failed={},
        unknown=tuple(
            each.hypervisor_hostname for each in hosts if each.hypervisor_hostname not in view.hypervisors
        ),
    )
    for host in hosts:
        before_each()
        try:
            after = redescribe(context, host, view)
            if after != host:
                result.changed[host.hypervisor_hostname] = _store(context, actor, host, after)
        except (CloudConflict, CloudNotFound, CloudRefused, ConcurrentUpdate) as error:
            result.failed[host.hypervisor_hostname] = error.message
    if result.unknown:
        _logger.warning("Nova does not know registered hosts any more: %s", ", ".join(result.unknown))
    for name, reason in result.failed.items():
        _logger.warning("host %s could not be refreshed: %s", name, reason)
    return result


def _store(context: Context, actor: str, before: Host, after: Host) -> str:
    changes = _differences(before, after)
    now = context.clock.now()
    with context.store.begin() as transaction:
        # A search that relied on the old facts must not succeed any more.
        transaction.allocations.claim({before.id: before.generation})
        transaction.hosts.update(after, now)
        have_missing_sought(context, transaction)
        transaction.journal.append(
            [
                JournalEntry(
                    at=now,
                    lease_id=None,
                    event="host.refreshed",
                    reason=f"{before.hypervisor_hostname}: {changes}",
                    actor=actor,
                )
            ]
        )
        transaction.commit()
    _logger.info("host %s has changed: %s", before.hypervisor_hostname, changes)
    return changes


def _differences(before: Host, after: Host) -> str:
    names = [each.name for each in fields(Host) if each.name in HOST_DETAILS]
    changed = [
        f"{name}: {getattr(before, name)} -> {getattr(after, name)}"
        for name in names
        if name != "cpu_info" and getattr(before, name) != getattr(after, name)
    ]
    if before.cpu_info != after.cpu_info:
        changed.append("cpu_info")
    if before.providers != after.providers:
        changed.append("inventories or traits")
    return "; ".join(changed)
