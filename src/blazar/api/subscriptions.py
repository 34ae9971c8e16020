"""Handlers for subscriptions to notices. The manager returns only those of the caller's project."""

from __future__ import annotations

from functools import partial
from typing import Final

from blazar.api.call import Call
from blazar.api.leases import require_project
from blazar.api.microversions import SUBSCRIPTIONS
from blazar.api.permissions import BY_MEMBERS, BY_OPERATORS, BY_READERS, Rule
from blazar.api.route import Route
from blazar.api.schema_parts import (
    ID,
    INSTANT,
    INSTANT_OR_NULL,
    STAMP,
    TEXT_OR_NULL,
    complete,
    wrapped,
    wrapped_list,
)
from blazar.api.validation import BodySchema, JsonSchema
from blazar.domain.notices import NoticeType
from blazar.domain.subscriptions import ChannelKind, Scope

_SITE: Final = "blazar:subscriptions:site"
"""Rule checked by the handlers. It refuses no request; callers who fail it see only their project."""
_GET, _POST = "blazar:subscriptions:get", "blazar:subscriptions:post"
_PUT, _DELETE = "blazar:subscriptions:put", "blazar:subscriptions:delete"


def list_subscriptions(call: Call) -> object:
    """Return the subscriptions of the caller's project; for operators, also those of the site."""
    require_project(call, _GET)
    return {"subscriptions": call.manager.list_subscriptions(call.caller, _sees_site(call))}


def create_subscription(call: Call) -> object:
    """Subscribe to notices of leases, by mail or with a webhook."""
    require_project(call, _POST)
    return {"subscription": call.manager.create_subscription(call.caller, call.body, _sees_site(call))}


def get_subscription(call: Call) -> object:
    """Return a subscription, with the reason if nothing can be delivered."""
    require_project(call, _GET)
    return {"subscription": call.manager.get_subscription(call.caller, _id(call), _sees_site(call))}


def update_subscription(call: Call) -> object:
    """Change, enable, disable or confirm a subscription, or replace the secret of its webhook."""
    require_project(call, _PUT)
    changed = call.manager.update_subscription(call.caller, _id(call), call.body, _sees_site(call))
    return {"subscription": changed}


def delete_subscription(call: Call) -> object:
    """Delete a subscription with its undelivered notices."""
    require_project(call, _DELETE)
    call.manager.delete_subscription(call.caller, _id(call), _sees_site(call))
    return None


def test_subscription(call: Call) -> object:
    """Send a test message to the subscriber."""
    require_project(call, _PUT)
    call.manager.test_subscription(call.caller, _id(call), _sees_site(call))
    return None


def list_subscription_deliveries(call: Call) -> object:
    """Return the notices of a subscription that are not delivered yet or were given up."""
    require_project(call, _GET)
    found = call.manager.list_subscription_deliveries(call.caller, _id(call), _sees_site(call))
    return {"deliveries": found}


def _sees_site(call: Call) -> bool:
    return call.policy.allows(call.identity, _SITE, call.own_target)


def _id(call: Call) -> str:
    return call.params["subscription_id"]


_EVENTS: JsonSchema = {
    "type": ["array", "null"],
    "maxItems": len(NoticeType),
    "items": {"enum": [each.value for each in NoticeType]},
    "description": "All by default. `resources.low` and `lease.waits` need the scope `site`.",
}
_MAIL_OR_WEBHOOK: JsonSchema = {"enum": [each.value for each in ChannelKind]}
_SCOPES: JsonSchema = {"enum": [each.value for each in Scope]}
_OF_BOTH: Final[dict[str, JsonSchema]] = {
    "events": _EVENTS,
    "url": {
        "type": ["string", "null"],
        "maxLength": 2048,
        "description": "Of a webhook. Addresses inside the site are refused, and redirects not followed.",
        "examples": ["https://hooks.example.org/leases"],
    },
    "address": {
        "type": ["string", "null"],
        "maxLength": 254,
        "description": "Of mail, if it is not the user's own address in Keystone. Its domain must be allowed "
        "by the operator, and the address be confirmed with the code that is mailed to it.",
    },
    "lead_minutes": {
        "type": ["array", "null"],
        "maxItems": 100,
        "items": {"type": "integer", "minimum": 1, "maximum": 43200},
        "description": "Minutes before the start and the end of a lease at which `lease.starts_soon` and "
        "`lease.ends_soon` are sent; at most 10. Null for those of the site.",
        "examples": [[1440, 60]],
    },
    "time_zone": {
        "type": ["string", "null"],
        "maxLength": 64,
        "description": "Of dates in mail; null for that of the site.",
        "examples": ["Europe/Berlin"],
    },
    "language": {
        "type": ["string", "null"],
        "maxLength": 16,
        "description": "Of mail; null for that of the site.",
    },
    "resource_type": {
        "type": ["string", "null"],
        "maxLength": 66,
        "description": "With `below`: the type whose free resources are counted for `resources.low`.",
    },
    "below": {
        "type": ["integer", "null"],
        "minimum": 1,
        "maximum": 2**31 - 1,
        "description": "Number of free resources below which they are low.",
    },
    "waits_minutes": {
        "type": ["integer", "null"],
        "minimum": 1,
        "maximum": 525600,
        "description": "Minutes for which a lease must wait before `lease.waits` is sent.",
    },
}
_CREATE: Final = BodySchema(
    name="SubscriptionCreate",
    definition={
        "type": "object",
        "required": ["kind"],
        "additionalProperties": False,
        "properties": {
            "kind": _MAIL_OR_WEBHOOK,
            "scope": {
                "enum": [*(each.value for each in Scope), None],
                "description": "By default `lease` if there is a `lease_id`, and otherwise `project`. `own` "
                "are the leases of the project that the caller created; `site`, for operators, are all.",
            },
            "lease_id": {"type": ["string", "null"], "minLength": 1, "maxLength": 64},
            **_OF_BOTH,
        },
    },
)
_UPDATE: Final = BodySchema(
    name="SubscriptionUpdate",
    definition={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **_OF_BOTH,
            "enabled": {"type": "boolean"},
            "rotate_secret": {
                "type": "boolean",
                "description": "Replace the secret of a webhook. For 24 hours, both sign requests.",
            },
            "code": {
                "type": "string",
                "maxLength": 64,
                "description": "The code that was mailed to the address.",
            },
            "resend": {
                "type": "boolean",
                "description": "Try again to deliver the notices that were given up.",
            },
        },
    },
)

COMPONENTS: Final[dict[str, JsonSchema]] = {
    "Subscription": {
        **complete(
            "A subscription to events.",
            id=ID,
            kind=_MAIL_OR_WEBHOOK,
            scope=_SCOPES,
            project_id=TEXT_OR_NULL,
            user_id=TEXT_OR_NULL,
            lease_id=TEXT_OR_NULL,
            events={"type": "array", "items": {"enum": [each.value for each in NoticeType]}},
            url={
                **TEXT_OR_NULL,
                "description": "Other users than that of the subscription see it without its path.",
            },
            address={**TEXT_OR_NULL, "description": "Other users see only its domain."},
            lead_minutes={"type": "array", "items": {"type": "integer"}},
            time_zone={"type": "string"},
            language={"type": "string"},
            resource_type=TEXT_OR_NULL,
            below={"type": ["integer", "null"]},
            waits_minutes={"type": ["integer", "null"]},
            enabled={
                "type": "boolean",
                "description": "False also if nothing could be delivered for a long time.",
            },
            confirmed={"type": "boolean"},
            default={
                "type": "boolean",
                "description": "Whether the service made it for the owner of a lease.",
            },
            problem={**TEXT_OR_NULL, "description": "Why the last attempt failed; null if it succeeded."},
            failing_since=INSTANT_OR_NULL,
            succeeded_at=INSTANT_OR_NULL,
            created_at=STAMP,
            updated_at=STAMP,
        ),
    },
    "SubscriptionWithSecret": {
        "allOf": [
            {"$ref": "#/components/schemas/Subscription"},
            {
                "type": "object",
                "properties": {
                    "secret": {
                        "type": "string",
                        "description": "The key that signs requests of a webhook; only in the answer to the "
                        "request that made it.",
                    }
                },
            },
        ]
    },
    "SubscriptionDelivery": complete(
        "A notice that is not delivered yet, or was given up.",
        id={**ID, "description": "The `webhook-id` of its requests."},
        event={"type": "string"},
        lease_id=ID,
        status={"enum": ["waiting", "failed"]},
        attempts={"type": "integer"},
        problem=TEXT_OR_NULL,
        created_at=INSTANT,
    ),
}

_ALL: Final = "/v1/subscriptions"
_ONE: Final = "/v1/subscriptions/{subscription_id}"
_route = partial(Route, since=SUBSCRIPTIONS, asked_by_handler=(_SITE,))
_WITH_SECRET: Final = wrapped("subscription", "SubscriptionWithSecret")

ROUTES: Final = (
    _route(
        method="GET",
        path=_ALL,
        handler=list_subscriptions,
        rules=(_GET,),
        answer=wrapped_list("subscriptions", "Subscription"),
    ),
    _route(
        method="POST",
        path=_ALL,
        handler=create_subscription,
        rules=(_POST,),
        status=201,
        body=_CREATE,
        answer=_WITH_SECRET,
    ),
    _route(
        method="GET",
        path=_ONE,
        handler=get_subscription,
        rules=(_GET,),
        answer=wrapped("subscription", "Subscription"),
    ),
    _route(
        method="PUT",
        path=_ONE,
        handler=update_subscription,
        rules=(_GET, _PUT),
        body=_UPDATE,
        answer=_WITH_SECRET,
    ),
    _route(
        method="DELETE",
        path=_ONE,
        handler=delete_subscription,
        rules=(_GET, _DELETE),
        status=204,
    ),
    _route(
        method="POST",
        path=f"{_ONE}/test",
        handler=test_subscription,
        rules=(_GET, _PUT),
        status=204,
    ),
    _route(
        method="GET",
        path=f"{_ONE}/deliveries",
        handler=list_subscription_deliveries,
        rules=(_GET,),
        answer=wrapped_list("deliveries", "SubscriptionDelivery"),
    ),
)

RULES: Final = (
    Rule(
        name=_GET,
        check=BY_READERS,
        description="List and show subscriptions of the caller's project. Also checked first when a "
        "subscription is changed or deleted.",
    ),
    Rule(
        name=_POST,
        check=BY_MEMBERS,
        description="Subscribe to notices of leases of the caller's project.",
    ),
    Rule(
        name=_PUT,
        check=BY_MEMBERS,
        description="Change a subscription of the caller's project, or send a test message.",
    ),
    Rule(name=_DELETE, check=BY_MEMBERS, description="Delete a subscription of the caller's project."),
    Rule(
        name=_SITE,
        check=BY_OPERATORS,
        description="Subscribe to notices of all projects, and see and change such subscriptions. For other "
        "callers they do not exist.",
    ),
)
