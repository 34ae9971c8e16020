"""The OpenAPI document, generated from the route table and the schemas.

``python -m blazar.api.openapi`` prints it. A test compares it with ``doc/openapi.json``.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Mapping
from typing import cast

from blazar.api import feeds, maintenance, microversions, subscriptions, usage
from blazar.api.idempotency import KEY_HEADER, KEY_PATTERN
from blazar.api.lists import PagedList
from blazar.api.properties import PROPERTY_SCHEMAS
from blazar.api.route import Route
from blazar.api.routes import ROUTES, TYPE_APIS
from blazar.api.schema_parts import ref
from blazar.api.schemas import COMPONENTS
from blazar.api.validation import JsonSchema

_DESCRIPTION = """\
Reservations of cloud resources for a period.

HEAD is available wherever GET is, and OPTIONS on every path. Every response has the header
`x-openstack-request-id`. At version 1.0, unknown query parameters are ignored, and lists are complete, in an
order that is not specified.

Without `OpenStack-API-Version`, requests are served at version 1.0. Version 1.1 differs from it as follows:

- The status of a request for more hosts, instances or floating IPs than are available is 409. At 1.0 it is
  400; the option `[api] shortage_status` can change that to 409 or 500.
- `GET /v1/leases/{lease_id}/allocations` exists.
- `PUT /v1/leases/{lease_id}` adds reservations to a lease that has not started, removes them, and releases
  chosen hosts, addresses and networks of a reservation, or those that others have booked in the new period.
  Its answer has `changes`.
- `/v1/offers` exists, and `POST /v1/leases` accepts `offer_id`. So does `PUT /v1/leases/{lease_id}`, for an
  offer of `POST /v1/leases/{lease_id}/offers`.
- `POST /v1/leases` and both requests for offers accept the header `Idempotency-Key`. If the same user of
  the same project repeats the request with the same key within 24 hours, no second lease or offer is created:
  the response is the first one again, with the header `Idempotency-Replayed: true`. The same key with another
  body gets 409.
- `GET /v1/leases/{lease_id}/history` exists.
- `POST /v1/availability/search`, `GET /v1/availability`, `GET /v1/timeline` and `GET /v1/catalogue` exist.
- `POST /v1/availability/search` with `lease_id` shows how a lease can be changed.
- Leases and reservations that GET returns have the keys of Progress.
- Reservations of types with requirements accept `same` and `spread`: the name of a property that all
  resources of the reservation have the same value of, or over whose values they are spread.
- `POST /v1/leases/{lease_id}/replacements` exists.
- `/v1/maintenance` exists, and `GET /v1/timeline` has the state `maintenance`.
- `/v1/feeds` exists. A feed has the address of a calendar, which programs read without a version and without
  credentials, because the address contains a secret.
- `/v1/subscriptions` exists.
- Hosts, floating IPs and other registered resources that GET returns have `health_reason`, for callers who
  satisfy `blazar:oshosts:private_resource_properties`.
- The lists of leases, hosts, allocations and floating IPs have pages, an order and filters, and refuse
  unknown query parameters with 400. While the list has a `rel: next` link, more items follow.

`/v1/os-hosts` is served only if `physical:host` is an enabled resource type, and `/v1/floatingips` only if
`virtual:floatingip` is.
"""

_FAULTS: Mapping[int, tuple[str, tuple[str, ...]]] = {
    400: (
        "The request is malformed or has an invalid value. At version 1.0, also: fewer resources are "
        "available than were requested. A usage rule does not allow a change of a lease.",
        ("Fault", "RequestFault", "RefusedLease"),
    ),
    401: ("The request has no valid credentials.", ("AuthenticationFault",)),
    403: (
        "Policy, a usage rule or the project's quota forbids the request, or `before_end_date` lies outside "
        "the lease.",
        ("Fault", "RefusedLease"),
    ),
    404: (
        "The path does not exist at the requested version, or what it names does not: a lease, an offer, a "
        "feed, a host, a floating IP or a property. If the body names an unknown flavor or hypervisor, the "
        "status is 404 too; for an unknown network it is 400.",
        ("Fault", "RequestFault"),
    ),
    406: ("The requested microversion is not served.", ("RequestFault",)),
    409: (
        "The present state forbids the request. From version 1.1 on, also: fewer resources are available "
        "than were requested. The refusal of a new or changed lease then has reasons and alternatives, also "
        "if the project's quota refuses it with 403, or a usage rule with 403 or, for a change, 400.",
        ("Fault", "RefusedLease"),
    ),
    410: ("The offer has expired.", ("Fault",)),
    413: ("The body is too long.", ("RequestFault",)),
    429: ("The calendar is read too often, or too many unknown addresses were tried.", ("Fault",)),
    500: ("Internal error.", ("Fault",)),
    503: ("The service is temporarily unavailable.", ("Fault",)),
}

_DATE = "`%Y-%m-%d %H:%M` in UTC, or `now`."
_QUERY: dict[str, str] = {
    "resource_type": "A resource type of the catalogue. The default is the first one in `[manager] plugins`.",
    "from": f"Start of the period, not in the past: {_DATE} The default is `now`.",
    "to": "End of the period, at most 366 days later: `%Y-%m-%d %H:%M` in UTC. The default is 7 days later.",
    "filter": "A requirement, in the short form or as JSON; only resources that satisfy it count.",
    "choices": "`true` to list also the objects of the cloud that a request can name, such as flavors.",
    "unit": "How large one unit is, if reservations of the type hold parts of resources: the `unit_keys` of "
    "the catalogue with values, such as `vcpus=4,memory_mb=8192,disk_gb=40`. The answer then counts units.",
    "resolution": "A number of minutes, at most 1440; the default is 1. Times of the answer are multiples of "
    "it in UTC, and each interval has the numbers of its minute in which the fewest are free.",
    "resources": "`true` for a row for each resource, instead of groups. The default is `false`.",
    "detail": "Return more than names; `false`, `0`, `no`, `off` or empty for names only.",
    "all": "Include private properties, for operators; `false`, `0`, `no`, `off` or empty to omit them.",
    "lease_id": "Return only allocations of this lease, also ended ones.",
    "reservation_id": "Return only allocations of this reservation, also ended ones.",
    "group_by": "A property of the catalogue: one group for each of its values. Without it, all resources "
    "are one group.",
}

_PAGES: dict[str, str] = {
    "limit": "The most items to return, from 1 to `[api] max_limit`, which is also the default.",
    "marker": "The id of the last item of the previous page; an unknown one gets 400.",
    "sort": "Keys separated by commas, each with `:asc` (the default) or `:desc`, such as `name:desc,id`. "
    "Equal items are sorted by id.",
    "status": "Return only leases with this status, or one of several, separated by commas.",
    "name": "Return only leases with exactly this name.",
    "project_id": "Return only leases of this project; operators only, others get 403 for another project.",
    "user_id": "Return only leases that this user created; operators get those in all projects.",
    "resource_type": "Return only leases with a reservation of this type.",
    "starts_after": f"Return only what starts then or later: {_DATE}",
    "starts_before": f"Return only what starts earlier: {_DATE}",
    "ends_after": f"Return only what ends then or later: {_DATE}",
    "ends_before": f"Return only what ends earlier: {_DATE}",
    "reservable": "Return only what can (`true`) or cannot (`false`) be reserved now.",
}

_DRY_RUN = (
    "`true` to learn what the request would do, without any effect. A refusal is the same as without it. "
    "Ignored at version 1.0."
)

_UNCHANGED = {"304": {"description": "The answer is still the one with the sent tag; there is no body."}}
_OF_TYPES: dict[str, str] = {name: text for each in TYPE_APIS for name, text in each.parameters.items()}
_VARIABLE = re.compile(r"\{(\w+)\}")


def document() -> dict[str, object]:
    """Return the OpenAPI document as a JSON value."""
    paths: dict[str, dict[str, object]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Blazar",
            "summary": "OpenStack's reservation service",
            "description": _DESCRIPTION,
            "version": microversions.text(microversions.MAX_VERSION),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "Relative to the mount point, such as `/reservation`."}],
        "security": [{"token": []}, {"basic": []}],
        "paths": paths,
        "components": {
            "schemas": {
                **{each.body.name: each.body.definition for each in ROUTES if each.body is not None},
                **COMPONENTS,
                **maintenance.COMPONENTS,
                **subscriptions.COMPONENTS,
                **usage.COMPONENTS,
                **feeds.COMPONENTS,
                **PROPERTY_SCHEMAS,
                **{name: schema for each in TYPE_APIS for name, schema in each.schemas.items()},
            },
            "responses": {str(status): _refusal(status) for status in _FAULTS},
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"},
                "basic": {"type": "http", "scheme": "basic"},
            },
        },
    }


def _operation(route: Route) -> dict[str, object]:
    operation: dict[str, object] = {
        "operationId": f"{route.handler.__name__}_{_slug(route.path)}"
        if route.is_public
        else route.name or route.handler.__name__,
        "summary": (inspect.getdoc(route.handler) or "").partition("\n")[0],
        "parameters": _parameters(route),
        "responses": {
            str(route.status): _success(route),
            **_preview(route),
            **(_UNCHANGED if route.has_tag else {}),
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in fault_statuses(route)},
        },
    }
    if route.is_public:
        operation["security"] = []
    else:
        operation["description"] = _policy_of(route)
    if route.body is not None:
        operation["requestBody"] = {"content": _json(ref(route.body.name))}
    return operation


def _policy_of(route: Route) -> str:
    text = f"Policy: {', then '.join(f'`{rule}`' for rule in route.rules)}."
    if route.asked_by_handler:
        text += f" The response depends on {', '.join(f'`{rule}`' for rule in route.asked_by_handler)}."
    if route.since > microversions.MIN_VERSION:
        text = f"From version {microversions.text(route.since)} on. {text}"
    return text


def _slug(path: str) -> str:
    """Return a name for a path; a trailing slash is kept, because it makes a different path."""
    return path.strip("/").replace("/", "_") + ("_slash" if path.endswith("/") else "") or "root"


def _parameters(route: Route) -> list[object]:
    text = {"type": "string"}
    found: list[object] = [
        {"name": name, "in": "path", "required": True, "schema": text}
        for name in _VARIABLE.findall(route.path)
    ]
    texts = {**_QUERY, **_OF_TYPES, **route.described}
    found += [
        {"name": name, "in": "query", "description": texts[name], "schema": text} for name in route.query
    ]
    if route.preview is not None:
        found.append({"name": "dry_run", "in": "query", "description": _DRY_RUN, "schema": text})
    if route.accepts_idempotency_key:
        found.append(
            {
                "name": KEY_HEADER,
                "in": "header",
                "description": "A value that the client chooses for this request, to repeat it safely. "
                "Ignored at version 1.0.",
                "schema": {"type": "string", "pattern": KEY_PATTERN},
            }
        )
    if route.has_tag:
        found.append(
            {
                "name": "If-None-Match",
                "in": "header",
                "description": "The `ETag` of an earlier answer, to get 304 if nothing has changed.",
                "schema": text,
            }
        )
    if route.pages is not None:
        found += [
            {"name": name, "in": "query", "description": _page_text(route.pages, name), "schema": text}
            for name in route.pages.parameters
            if name not in route.query
        ]
    if not route.is_public:
        found.append(
            {
                "name": microversions.HEADER,
                "in": "header",
                "description": f"`{microversions.SERVICE} 1.0` (the default), `{microversions.SERVICE} 1.1` "
                f"or `{microversions.SERVICE} latest`.",
                "schema": text,
            }
        )
    return found


def _page_text(pages: PagedList, name: str) -> str:
    text = (_PAGES | _OF_TYPES)[name]
    if name == "sort":
        keys = ", ".join(f"`{key}`" for key in pages.sort_keys)
        text = f"{text} Keys: {keys}; `{pages.sort_keys[0]}` by default."
    return f"From 1.1 on. {text}"


def _success(route: Route) -> dict[str, object]:
    if route.answer is None:
        return {"description": "Success; there is no body."}
    return {"description": "Success.", "content": {route.media_type: {"schema": route.answer}}}


def fault_statuses(route: Route) -> list[int]:
    """Return the error statuses that a route can respond with, in ascending order."""
    if route.is_public:
        return [400, 404, 429, 500, 503] if "{" in route.path else [500]
    statuses = [400, 401, 403, 406, 500, 503]
    if "{" in route.path or route.since > microversions.MIN_VERSION:
        statuses.append(404)
    if route.method != "GET":
        statuses.append(409)
    if route.method == "POST":
        statuses.append(404)
    if route.body is not None:
        statuses.append(413)
        if "offer_id" in cast("JsonSchema", route.body.definition.get("properties", {})):
            statuses.append(410)
    return sorted(set(statuses))


def _refusal(status: int) -> dict[str, object]:
    description, shapes = _FAULTS[status]
    schema: JsonSchema = ref(shapes[0]) if len(shapes) == 1 else {"anyOf": [ref(each) for each in shapes]}
    return {"description": description, "content": _json(schema)}


def _preview(route: Route) -> dict[str, object]:
    """Return the response to a dry run, if the route has one."""
    if route.preview is None:
        return {}
    if route.status != 200 or route.answer is None:
        return {"200": {"description": "What the request would do.", "content": _json(route.preview)}}
    content = _json({"anyOf": [route.answer, route.preview]})
    return {"200": {"description": "Success, or what the request would do.", "content": content}}


def _json(schema: JsonSchema) -> dict[str, object]:
    return {"application/json": {"schema": schema}}


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=2)
    sys.stdout.write("\n")
