"""Requests about subscriptions: who gets which notices, and how."""

from __future__ import annotations

import zoneinfo
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, cast

from blazar.booking.context import Context
from blazar.booking.views import JsonObject
from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.domain.mail_addresses import domain_of
from blazar.domain.notices import OF_SITE, NoticeType
from blazar.domain.subscriptions import ChannelKind, Conditions, Scope, Subscription
from blazar.domain.webhook_rules import RefusedUrl
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_LONGEST_LEAD: Final = timedelta(days=30)
_MOST_LEADS: Final = 10
_ORDINARY: Final = frozenset(NoticeType) - OF_SITE


def parse_subscription(
    context: Context, caller: Caller, body: JsonObject, *, is_operator: bool
) -> Subscription:
    """Return the requested subscription, without a secret or a code.

    Raises:
        BadRequest: A value is invalid; the message names the key.
    """
    kind = _parse_kind(context, body)
    scope = _parse_scope(body, is_operator=is_operator)
    if scope is not Scope.SITE and not caller.project_id:
        raise InvalidParameter("scope", f"{scope} needs a token for a project")
    now = context.clock.now()
    bare = Subscription(
        id=context.new_id(),
        scope=scope,
        project_id=None if scope is Scope.SITE else caller.project_id,
        user_id=caller.user_id,
        lease_id=str(body["lease_id"]) if scope is Scope.LEASE else None,
        kind=kind,
        types=frozenset(NoticeType) if scope is Scope.SITE else _ORDINARY,
        created_at=now,
    )
    return changed_subscription(context, bare, {"url": None, **body})


def check_lease(transaction: Transaction, subscription: Subscription) -> None:
    """Raise InvalidParameter if the lease of a subscription does not exist in its project."""
    if subscription.lease_id is None:
        return
    lease = transaction.leases.find(subscription.lease_id)
    if lease is None or lease.project_id != subscription.project_id:
        raise InvalidParameter("lease_id", f"the project has no lease {subscription.lease_id[:64]}")


def changed_subscription(context: Context, before: Subscription, body: JsonObject) -> Subscription:
    """Return a subscription with the changes of a body; keys that are absent change nothing.

    Raises:
        BadRequest: A value is invalid; the message names the key.
    """
    after = before
    if body.get("events") is not None:
        after = replace(after, types=_parse_types(before.scope, cast("Sequence[str]", body["events"])))
    if "url" in body or "address" in body:
        after = replace(after, target=_parse_target(context, before.kind, body))
    if "lead_minutes" in body:
        after = replace(after, leads=_parse_leads(body["lead_minutes"]))
    if "time_zone" in body:
        after = replace(after, time_zone=_parse_time_zone(body["time_zone"]))
    if "language" in body:
        after = replace(after, language=_parse_language(context, body["language"]))
    if isinstance(body.get("enabled"), bool):
        after = replace(after, is_enabled=bool(body["enabled"]))
    return replace(after, conditions=_parse_conditions(context, after, body))


def _parse_kind(context: Context, body: JsonObject) -> ChannelKind:
    if body.get("kind") is None:
        raise MissingParameter("kind")
    kind = ChannelKind(str(body["kind"]))
    channels = context.settings.notices.channels
    if kind not in channels:
        enabled = ", ".join(sorted(channels)) or "none"
        raise InvalidParameter(
            "kind", f"{kind} is not enabled here; enabled kinds: {enabled} ([notices] channels)"
        )
    return kind


def _parse_scope(body: JsonObject, *, is_operator: bool) -> Scope:
    lease_id, named = body.get("lease_id"), body.get("scope")
    scope = Scope(str(named)) if named is not None else Scope.PROJECT if lease_id is None else Scope.LEASE
    if (scope is Scope.LEASE) is (lease_id is None):
        raise InvalidParameter("lease_id", "must be given for the scope lease, and for no other")
    if scope is Scope.SITE and not is_operator:
        raise InvalidParameter("scope", "site needs the rights of an operator (blazar:subscriptions:site)")
    return scope


def _parse_types(scope: Scope, names: Sequence[str]) -> frozenset[NoticeType]:
    found = frozenset(NoticeType(each) for each in names)
    if scope is not Scope.SITE and not found.isdisjoint(OF_SITE):
        first = min(found & OF_SITE)
        raise InvalidParameter("events", f"{first} needs the scope site")
    return found


def _parse_target(context: Context, kind: ChannelKind, body: JsonObject) -> str | None:
    wrong, right = ("address", "url") if kind is ChannelKind.WEBHOOK else ("url", "address")
    if body.get(wrong) is not None:
        raise InvalidParameter(wrong, f"does not belong to the kind {kind}")
    value = body.get(right)
    if kind is ChannelKind.MAIL:
        return None if value is None else _parse_address(context, str(value))
    if value is None:
        raise MissingParameter("url")
    try:
        context.settings.notices.webhook_rules.parse(str(value))
    except RefusedUrl as error:
        raise InvalidParameter("url", str(error)) from error
    return str(value)


def _parse_address(context: Context, address: str) -> str:
    domain = domain_of(address)
    if domain is None:
        raise InvalidParameter("address", "must be a mail address, such as name@example.org")
    allowed = context.settings.notices.mail_domains
    if domain not in allowed:
        names = ", ".join(sorted(allowed)) or "none"
        raise InvalidParameter(
            "address",
            f"the domain {domain} is not allowed; without an address, mail goes to the address that Keystone "
            f"has for you; allowed domains: {names} ([notices] mail_domains)",
        )
    return address


def _parse_leads(value: object) -> tuple[timedelta, ...] | None:
    if value is None:
        return None
    found = sorted({timedelta(minutes=each) for each in cast("Sequence[int]", value)}, reverse=True)
    if len(found) > _MOST_LEADS:
        raise InvalidParameter("lead_minutes", f"must have at most {_MOST_LEADS} different values")
    if any(not timedelta(0) < each <= _LONGEST_LEAD for each in found):
        longest = _LONGEST_LEAD // timedelta(minutes=1)
        raise InvalidParameter("lead_minutes", f"each must be from 1 to {longest}")
    return tuple(found)


def _parse_time_zone(value: object) -> str | None:
    if value is None:
        return None
    try:
        return zoneinfo.ZoneInfo(str(value)).key
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise InvalidParameter(
            "time_zone", "must be a name of the IANA time zone database, such as Europe/Berlin"
        ) from error


def _parse_language(context: Context, value: object) -> str | None:
    languages: Collection[str] = context.settings.notices.languages
    if value is not None and value not in languages:
        raise InvalidParameter("language", f"must be one of {', '.join(sorted(languages))}")
    return None if value is None else str(value)


def _parse_conditions(context: Context, subscription: Subscription, body: JsonObject) -> Conditions:
    """Return the conditions of an operator. Raises InvalidParameter if they do not fit its events."""
    found, minutes = subscription.conditions, cast("Any", body.get("waits_minutes"))
    for key in ("resource_type", "below", "waits_minutes"):
        if body.get(key) is not None and subscription.scope is not Scope.SITE:
            raise InvalidParameter(key, "needs the scope site")
    if body.get("resource_type") is not None:
        found = replace(found, resource_type=context.plugin_for(str(body["resource_type"])).resource_type)
    if body.get("below") is not None:
        found = replace(found, below=cast("int", body["below"]))
    if minutes is not None:
        found = replace(found, waits=timedelta(minutes=minutes))
    if (found.resource_type is None) is not (found.below is None):
        raise InvalidParameter("below", "must be given together with resource_type")
    return found
