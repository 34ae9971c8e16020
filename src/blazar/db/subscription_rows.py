"""Rows of subscriptions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from blazar.db.columns import read_list
from blazar.db.tables import subscriptions
from blazar.domain.notices import NoticeType
from blazar.domain.subscriptions import (
    ChannelKind,
    Conditions,
    Health,
    Scope,
    Subscription,
    sorted_types,
)

_MINUTE = timedelta(minutes=1)


def may_be_tried(now: datetime) -> sa.ColumnElement[bool]:
    """Return the condition that deliveries to a subscription do not wait after a failure."""
    return sa.or_(subscriptions.c.retry_at.is_(None), subscriptions.c.retry_at <= now)


def columns_of(subscription: Subscription) -> Mapping[str, object]:
    """Return the columns of a subscription."""
    conditions, health = subscription.conditions, subscription.health
    leads = subscription.leads
    return {
        "id": subscription.id,
        "scope": subscription.scope.value,
        "project_id": subscription.project_id,
        "user_id": subscription.user_id,
        "lease_id": subscription.lease_id,
        "kind": subscription.kind.value,
        "types": json.dumps(sorted_types(subscription.types)),
        "target": subscription.target,
        "secret": subscription.secret,
        "former_secret": subscription.former_secret,
        "former_until": subscription.former_until,
        "lead_minutes": None if leads is None else json.dumps([each // _MINUTE for each in leads]),
        "time_zone": subscription.time_zone,
        "language": subscription.language,
        "resource_type": conditions.resource_type,
        "below": conditions.below,
        "waits_minutes": None if conditions.waits is None else conditions.waits // _MINUTE,
        "is_enabled": subscription.is_enabled,
        "is_default": subscription.is_default,
        "code": subscription.code,
        "code_attempts": subscription.code_attempts,
        "succeeded_at": health.succeeded_at,
        "failing_since": health.failing_since,
        "retry_at": health.retry_at,
        "problem": health.problem,
        "created_at": subscription.created_at,
        "updated_at": subscription.updated_at,
    }


def subscription_of(row: sa.RowMapping) -> Subscription:
    """Return the subscription of a row; unknown types, of a newer version, are omitted."""
    known = set(NoticeType)
    values = {column.name: row[column] for column in subscriptions.c}
    leads = None if values["lead_minutes"] is None else read_list(values["lead_minutes"])
    return Subscription(
        **{key: values[key] for key in _PLAIN},
        scope=Scope(values["scope"]),
        kind=ChannelKind(values["kind"]),
        types=frozenset(NoticeType(each) for each in read_list(values["types"]) or () if each in known),
        leads=None if leads is None else tuple(timedelta(minutes=each) for each in leads),
        conditions=_conditions(values),
        health=Health(
            succeeded_at=values["succeeded_at"],
            failing_since=values["failing_since"],
            retry_at=values["retry_at"],
            problem=values["problem"],
        ),
    )


def _conditions(values: Mapping[str, Any]) -> Conditions:
    waits = values["waits_minutes"]
    return Conditions(
        resource_type=values["resource_type"],
        below=values["below"],
        waits=None if waits is None else timedelta(minutes=waits),
    )


_PLAIN = (
    "id",
    "project_id",
    "user_id",
    "lease_id",
    "target",
    "secret",
    "former_secret",
    "former_until",
    "time_zone",
    "language",
    "is_enabled",
    "is_default",
    "code",
    "code_attempts",
    "created_at",
    "updated_at",
)
"""The columns that are attributes as they are."""
