"""Refresh of registered hosts from Nova and Placement."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial

from blazar.booking.context import Context
from blazar.booking.scheduling import reschedule_missing
from blazar.domain.circuit_breaker import CircuitBreaker
from blazar.domain.errors import (
    CloudConflict,
    CloudNotFound,
    CloudRefused,
    CloudUnavailable,
    ConcurrentUpdate,
)
from blazar.domain.fact_columns import changed_keys
from blazar.plugins.hosts.description import CloudView, redescribe, view_cloud
from blazar.plugins.hosts.host import HOST_DETAILS, Host
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.journal import JournalEntry

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """The result of a refresh, by hypervisor host name."""

    changed: dict[str, str]
    """The changes of each host, as text."""
    failed: dict[str, str]
    """The reason for each host that could not be refreshed."""
    unknown: tuple[str, ...]
    """Hosts that Nova no longer knows."""


def refresh_hosts(
    context: Context,
    actor: str,
    *,
    names: Collection[str] | None = None,
    check_claim: Callable[[], None] = lambda: None,
) -> Refreshed:
    """Read registered hosts from Nova and Placement again and store the changes.

    A host about which Placement gave no answer is tried once more at the end, so that one missing answer of
    many does not end the refresh of a large site.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        names: Hypervisor host names; None for all registered hosts.
        check_claim: Called before each host; an exception from it ends the refresh.

    Raises:
        CloudUnavailable: Nova does not respond, or Placement gave no answer about three hosts in a row;
            changes stored so far remain.
    """
    with context.store.read() as transaction:
        providers = transaction.of(HOST_STORE).list_providers()
        hosts = [
            replace(each, providers=providers.get(each.id, ()))
            for each in transaction.of(HOST_STORE).list()
            if names is None or each.hypervisor_hostname in names
        ]
    view = view_cloud(context.cloud, context.settings.of(HostSettings))
    result = Refreshed(
        changed={},
        failed={},
        unknown=tuple(
            each.hypervisor_hostname for each in hosts if each.hypervisor_hostname not in view.hypervisors
        ),
    )
    read = partial(_read, context, actor, view, CircuitBreaker(), result)
    missed = []
    for host in hosts:
        check_claim()
        if read(host) is not None:
            missed.append(host)
    for host in missed:
        check_claim()
        error = read(host)
        if error is not None:
            result.failed[host.hypervisor_hostname] = error.message
    if result.unknown:
        _logger.warning("Nova no longer knows registered hosts: hosts=%s", ", ".join(result.unknown))
    for name, reason in result.failed.items():
        _logger.warning("cannot refresh a host: host=%s reason=%s", name, reason)
    return result


def _read(
    context: Context, actor: str, view: CloudView, breaker: CircuitBreaker, result: Refreshed, host: Host
) -> CloudUnavailable | None:
    """Read a host and store its changes; return the error if Placement gave no answer.

    Raises:
        CloudUnavailable: This was the third missing answer in a row.
    """
    try:
        after = breaker.call(lambda: redescribe(context.cloud.placement, host, view))
        if isinstance(after, CloudUnavailable):
            return after
        if after != host:
            result.changed[host.hypervisor_hostname] = _store(context, actor, host, after)
    except (CloudConflict, CloudNotFound, CloudRefused, ConcurrentUpdate) as error:
        result.failed[host.hypervisor_hostname] = error.message
    return None


def _store(context: Context, actor: str, before: Host, after: Host) -> str:
    changes = _differences(before, after)
    now = context.clock.now()
    with context.store.begin() as transaction:
        # A concurrent search that relied on the old facts must fail.
        transaction.allocations.claim({before.id: before.generation})
        transaction.of(HOST_STORE).update(after, _changed_capabilities(before, after), now)
        reschedule_missing(context, transaction)
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
    _logger.info("host has changed: host=%s changes=%s", before.hypervisor_hostname, changes)
    return changes


def _changed_capabilities(before: Host, after: Host) -> Mapping[str, str | None]:
    """Return the new values of the capabilities that differ; None for one that the host no longer has."""
    changed = changed_keys(before.capabilities, after.capabilities)
    return {name: after.capabilities.get(name) for name in sorted(changed)}


def _differences(before: Host, after: Host) -> str:
    names = [each.name for each in fields(Host) if each.name in HOST_DETAILS]
    changed = [
        f"{name}: {getattr(before, name)} -> {getattr(after, name)}"
        for name in names
        if name != "cpu_info" and getattr(before, name) != getattr(after, name)
    ]
    changed += [
        f"{name}: {before.capabilities.get(name)} -> {value}"
        for name, value in _changed_capabilities(before, after).items()
    ]
    if before.cpu_info != after.cpu_info:
        changed.append("cpu_info")
    if before.providers != after.providers:
        changed.append("inventories or traits")
    return "; ".join(changed)
