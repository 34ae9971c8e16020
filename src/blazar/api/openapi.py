"""The OpenAPI document, made from the route table and the schemas.

``python -m blazar.api.openapi`` prints it; ``doc/openapi.json`` is kept, and a test compares the two.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Mapping

from blazar.api import microversions
from blazar.api.routes import ROUTES, Route
from blazar.api.schemas import COMPONENTS, ref
from blazar.api.validation import JsonSchema

_DESCRIPTION = """\
Reservations of cloud resources in time.

HEAD is answered wherever GET is, and OPTIONS everywhere. Every answer has the header
`x-openstack-request-id`. Parameters of a query that are not named here are ignored. There is no pagination:
lists are complete, in no promised order.
`/v1/os-hosts` is served only where `physical:host` is among the resource types, and `/v1/floatingips` where
`virtual:floatingip` is.
"""

_FAULTS: Mapping[int, tuple[str, tuple[str, ...]]] = {
    400: ("The request cannot be understood, or is not allowed by its own terms.", ("Fault", "RequestFault")),
    401: ("Who asks is not known.", ("AuthenticationFault",)),
    403: ("Policy does not allow it, or `before_end_date` lies outside the lease.", ("Fault",)),
    404: ("There is no such thing.", ("Fault", "RequestFault")),
    406: ("The microversion asked for is not served.", ("RequestFault",)),
    409: ("The present state of things forbids it.", ("Fault",)),
    413: ("The body is too long.", ("RequestFault",)),
    500: ("A defect of the service.", ("Fault",)),
    503: ("The service cannot answer now.", ("Fault",)),
}

_QUERY: Mapping[str, str] = {
    "lease_id": "Only allocations of this lease; ended ones too.",
    "reservation_id": "Only allocations of this reservation; ended ones too.",
    "detail": "Any word but `false`, `0`, `no`, `off` for more than the names.",
    "all": "Any word but `false`, `0`, `no`, `off` for private properties too; for operators.",
}

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
        "servers": [{"url": "/", "description": "Below the mount point, such as `/reservation`."}],
        "security": [{"token": []}, {"basic": []}],
        "paths": paths,
        "components": {
            "schemas": COMPONENTS,
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
        else route.handler.__name__,
        "summary": (inspect.getdoc(route.handler) or "").partition("\n")[0],
        "parameters": _parameters(route),
        "responses": {
            str(route.status): _success(route),
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in fault_statuses(route)},
        },
    }
    if route.is_public:
        operation["security"] = []
    else:
        operation["description"] = f"Policy: {', then '.join(f'`{rule}`' for rule in route.rules)}."
    if route.body is not None:
        operation["requestBody"] = {"content": _json(ref(route.body.name))}
    return operation


def _slug(path: str) -> str:
    """Return a name for a path; a slash at the end counts, since it makes another path."""
    return path.strip("/").replace("/", "_") + ("_slash" if path.endswith("/") else "") or "root"


def _parameters(route: Route) -> list[object]:
    text = {"type": "string"}
    found: list[object] = [
        {"name": name, "in": "path", "required": True, "schema": text}
        for name in _VARIABLE.findall(route.path)
    ]
    found += [
        {"name": name, "in": "query", "description": _QUERY[name], "schema": text} for name in route.query
    ]
    if not route.is_public:
        found.append(
            {
                "name": microversions.HEADER,
                "in": "header",
                "description": f"`{microversions.SERVICE} 1.0` or `{microversions.SERVICE} latest`.",
                "schema": text,
            }
        )
    return found


def _success(route: Route) -> dict[str, object]:
    if route.answer is None:
        return {"description": "Done; there is no body."}
    return {"description": "The answer.", "content": _json(route.answer)}


def fault_statuses(route: Route) -> list[int]:
    """Return the statuses with which a route may refuse."""
    if route.is_public:
        return [500]
    statuses = [400, 401, 403, 406, 500, 503]
    if "{" in route.path:
        statuses.append(404)
    if route.method != "GET":
        statuses.append(409)
    if route.method == "POST":
        statuses.append(404)
    if route.body is not None:
        statuses.append(413)
    return sorted(set(statuses))


def _refusal(status: int) -> dict[str, object]:
    description, shapes = _FAULTS[status]
    schema: JsonSchema = ref(shapes[0]) if len(shapes) == 1 else {"anyOf": [ref(each) for each in shapes]}
    return {"description": description, "content": _json(schema)}


def _json(schema: JsonSchema) -> dict[str, object]:
    return {"application/json": {"schema": schema}}


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=2)
    sys.stdout.write("\n")
