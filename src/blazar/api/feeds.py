"""Handlers for feeds, and for the calendars that programs read with the tokens of feeds.

The token of a feed is made here and sent once; afterwards, only its digest is known. A calendar is served
without authentication, because calendar programs have no Keystone token.
"""

from __future__ import annotations

import hashlib
import secrets
from functools import partial
from typing import Final

from blazar.api.call import Call, Response
from blazar.api.leases import require_project
from blazar.api.lists import refuse_unknown
from blazar.api.microversions import FEEDS
from blazar.api.permissions import BY_MEMBERS, BY_OPERATORS, BY_READERS, Rule
from blazar.api.route import Route
from blazar.api.schema_parts import (
    ID,
    INSTANT,
    INSTANT_OR_NULL,
    TEXT_OR_NULL,
    complete,
    wrapped,
    wrapped_list,
)
from blazar.api.validation import BodySchema, JsonSchema
from blazar.domain.errors import Forbidden
from blazar.ports.manager import Caller
from blazar.telemetry.log_context import CALENDARS

_TOKEN_BYTES: Final = 32
_MEDIA_TYPE: Final = "text/calendar"
_GET_ALL: Final = "blazar:feeds:get_all"
_DELETE_ALL: Final = "blazar:feeds:delete_all"
_ANONYMOUS: Final = Caller(user_id=None, project_id=None)


def list_feeds(call: Call) -> object:
    """Return the feeds of the caller's project; for operators, those of all projects or of one."""
    require_project(call, "blazar:feeds:get")
    refuse_unknown(call, ("project_id",))
    asked, own = call.query.get("project_id"), call.caller.project_id
    is_operator = call.policy.allows(call.identity, _GET_ALL, call.own_target)
    if not is_operator and asked not in (None, own):
        raise Forbidden("project_id: only operators may list the feeds of other projects")
    return {"feeds": call.manager.list_feeds(call.caller, asked if is_operator else own)}


def create_feed(call: Call) -> object:
    """Create a feed, and return it with the address of its calendar, which is not shown again."""
    require_project(call, "blazar:feeds:post")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    made = call.manager.create_feed(call.caller, digest_of(token), call.body)
    return {"feed": {**made, "url": f"{call.base_url}{CALENDARS}{token}.ics"}}


def get_feed(call: Call) -> object:
    """Return a feed."""
    require_project(call, "blazar:feeds:get")
    return {"feed": call.manager.get_feed(call.caller, call.params["feed_id"], _project(call, _GET_ALL))}


def delete_feed(call: Call) -> object:
    """Delete a feed; its calendar can no longer be read."""
    require_project(call, "blazar:feeds:delete")
    call.manager.delete_feed(call.caller, call.params["feed_id"], _project(call, _DELETE_ALL))
    return None


def get_calendar(call: Call) -> object:
    """Return the calendar of a feed."""
    found = call.manager.get_calendar(_ANONYMOUS, digest_of(call.params["token"]), call.known_tags)
    headers = {"ETag": f'"{found["etag"]}"', "Cache-Control": "private, no-cache"}
    if "calendar" not in found:
        return Response(value=None, headers=headers, status=304)
    headers |= {
        "Content-Disposition": 'attachment; filename="blazar.ics"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(value=str(found["calendar"]), headers=headers)


def digest_of(token: str) -> str:
    """Return the form in which a token is stored. It is random and long, so it needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def _project(call: Call, rule_for_all: str) -> str | None:
    """Return the project whose feeds the caller may use; None for all."""
    is_operator = call.policy.allows(call.identity, rule_for_all, call.own_target)
    return None if is_operator else call.caller.project_id


_NAME: Final[JsonSchema] = {
    "type": ["string", "null"],
    "maxLength": 80,
    "description": "The title of the calendar; by default, it says what the calendar shows.",
}
_TEXT: Final[JsonSchema] = {"type": ["string", "null"], "minLength": 1, "maxLength": 255}

_CREATE: Final = BodySchema(
    name="FeedCreate",
    definition={
        "type": "object",
        "required": ["kind"],
        "additionalProperties": False,
        "properties": {
            "kind": {
                "enum": ["lease", "user", "project", "availability"],
                "description": "What the calendar shows: one lease, the leases of the caller in the project, "
                "those of the project, or the times at which resources are not free.",
            },
            "name": _NAME,
            "lease_id": {**_TEXT, "description": "Required for a lease: one of the caller's project."},
            "alarm_minutes": {
                "type": ["integer", "null"],
                "minimum": 0,
                "maximum": 525600,
                "description": "Of leases: minutes before the end at which programs remind of it, in "
                "addition to the time of the event `before_end_lease`; 0 for no reminders.",
            },
            "resource_type": {**_TEXT, "maxLength": 66, "description": "Required for availability."},
            "filter": {
                **_TEXT,
                "maxLength": 4096,
                "description": "Of availability: a requirement; only resources that satisfy it count.",
                "examples": ["rack=r3"],
            },
            "unit": {
                **_TEXT,
                "description": "Of availability, if reservations of the type hold parts of resources: the "
                "size of a unit, as for `GET /v1/availability`.",
            },
            "group_by": {
                **_TEXT,
                "description": "Of availability, together with `group`: a property of the catalogue.",
            },
            "group": {**_TEXT, "description": "Only resources count that have this value of `group_by`."},
            "amount": {
                "type": ["integer", "null"],
                "minimum": 1,
                "maximum": 2**31 - 1,
                "description": "Of availability: a time at which fewer are free counts as busy. The default "
                "is 1.",
            },
        },
    },
)

COMPONENTS: Final[dict[str, JsonSchema]] = {
    "Feed": complete(
        "A calendar that anyone who has its address can read.",
        id=ID,
        kind={"enum": ["lease", "user", "project", "availability"]},
        name={"type": "string"},
        user_id=TEXT_OR_NULL,
        project_id={"type": "string"},
        lease_id=TEXT_OR_NULL,
        resource_type=TEXT_OR_NULL,
        filter=TEXT_OR_NULL,
        unit=TEXT_OR_NULL,
        group_by=TEXT_OR_NULL,
        group=TEXT_OR_NULL,
        amount={"type": ["integer", "null"]},
        alarm_minutes={"type": ["integer", "null"]},
        created_at=INSTANT,
        expires_at={**INSTANT_OR_NULL, "description": "Null if feeds do not expire."},
        last_used_on={
            "type": ["string", "null"],
            "pattern": r"^\d{4}-\d\d-\d\d$",
            "description": "The day on which the calendar was read last, or the day before; null if it never "
            "was.",
        },
    ),
    "NewFeed": {
        "allOf": [
            {"$ref": "#/components/schemas/Feed"},
            complete(
                "A feed that was just created.",
                url={"type": "string", "description": "The address of its calendar. It is not shown again."},
            ),
        ]
    },
    "Calendar": {"type": "string", "description": "A calendar in the format of RFC 5545."},
}

CALENDAR: Final = f"{CALENDARS}{{token}}.ics"
_FEEDS: Final = "/v1/feeds"
_FEED: Final = "/v1/feeds/{feed_id}"
_route = partial(Route, since=FEEDS)

ROUTES: Final = (
    _route(
        method="GET",
        path=_FEEDS,
        handler=list_feeds,
        rules=("blazar:feeds:get",),
        asked_by_handler=(_GET_ALL,),
        query=("project_id",),
        described={
            "project_id": "Return only feeds of this project; operators only, others get 403 for another one."
        },
        answer=wrapped_list("feeds", "Feed"),
    ),
    _route(
        method="POST",
        path=_FEEDS,
        handler=create_feed,
        rules=("blazar:feeds:post",),
        status=201,
        body=_CREATE,
        answer=wrapped("feed", "NewFeed"),
    ),
    _route(
        method="GET",
        path=_FEED,
        handler=get_feed,
        rules=("blazar:feeds:get",),
        asked_by_handler=(_GET_ALL,),
        answer=wrapped("feed", "Feed"),
    ),
    _route(
        method="DELETE",
        path=_FEED,
        handler=delete_feed,
        rules=("blazar:feeds:get", "blazar:feeds:delete"),
        asked_by_handler=(_DELETE_ALL,),
        status=204,
    ),
    _route(
        method="GET",
        path=CALENDAR,
        handler=get_calendar,
        rules=(),
        has_tag=True,
        media_type=_MEDIA_TYPE,
        answer={"$ref": "#/components/schemas/Calendar"},
    ),
)

RULES: Final = (
    Rule(
        name="blazar:feeds:get",
        check=BY_READERS,
        description="List and show feeds of the caller's project, without their addresses. Also checked "
        "first when a feed is deleted.",
    ),
    Rule(
        name="blazar:feeds:post",
        check=BY_MEMBERS,
        description="Create a feed of the caller's project. Anyone who has its address can then read the "
        "calendar, until the feed is deleted or expires.",
    ),
    Rule(
        name="blazar:feeds:delete",
        check=BY_MEMBERS,
        description="Delete a feed of the caller's project, by any user.",
    ),
    Rule(name=_GET_ALL, check=BY_OPERATORS, description="List and show the feeds of all projects."),
    Rule(name=_DELETE_ALL, check=BY_OPERATORS, description="Delete feeds of all projects."),
)
