from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from api.conftest import KNOWN, UNKNOWN, Api, body_for
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from blazar.api.openapi import document
from blazar.api.route import Route
from blazar.api.routes import ROUTES

KEPT = Path(__file__).parents[2] / "doc" / "openapi.json"
DOCUMENT: dict[str, Any] = json.loads(json.dumps(document()))
REGISTRY: Registry[Any] = Registry().with_resource("urn:openapi", DRAFT202012.create_resource(DOCUMENT))


def test_the_kept_document_is_current() -> None:
    assert json.loads(KEPT.read_text()) == DOCUMENT, "run python -m blazar.api.openapi > doc/openapi.json"


def test_the_document_is_valid() -> None:
    validate(DOCUMENT)


def test_every_route_and_method_stands_in_it_and_nothing_else() -> None:
    described = {(path, method.upper()) for path, item in DOCUMENT["paths"].items() for method in item}

    assert described == {(route.path, route.method) for route in ROUTES}


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for item in DOCUMENT["paths"].values() for operation in item.values()]

    assert len(names) == len(set(names))


def valid(answer: Any, route: Route) -> None:
    """Assert that a response is valid according to the document."""
    operation = DOCUMENT["paths"][route.path][route.method.lower()]
    response = operation["responses"][str(answer.status_code)]
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]
    if "content" not in response:
        assert answer.content == b""
        return
    [(media_type, content)] = response["content"].items()
    assert answer.headers["Content-Type"].partition(";")[0] == media_type
    schema = json.loads(json.dumps(content["schema"]).replace('"#/', '"urn:openapi#/'))
    value = answer.json if media_type == "application/json" else answer.text
    Draft202012Validator(schema, registry=REGISTRY).validate(value)


def ask(api: Api, route: Route, *, known: bool = True, **more: Any) -> Any:
    path = route.path.format(**(KNOWN if known else UNKNOWN))
    if route.body is not None and "body" not in more:
        more["json"] = body_for(route)
    headers = {"OpenStack-API-Version": "reservation latest", **more.pop("headers", {})}
    return api.request(route.method, path, headers=headers, **more)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_answers_are_as_described(api: Api, route: Route) -> None:
    answers = [ask(api, route)]
    if not route.is_public:
        answers.append(ask(api, route, roles="cook"))
        answers.append(ask(api, route, headers={"OpenStack-API-Version": "reservation 9.9"}))
    if route.query:
        answers.append(ask(api, route, query_string="detail=1&all=1"))
    if "{" in route.path:
        answers.append(ask(api, route, known=False))
    if route.body is not None:
        answers.append(ask(api, route, body="["))
        answers.append(ask(api, route, body="[]"))
        answers.append(ask(api, route, body=" " * 200_000))

    for answer in answers:
        valid(answer, route)
    assert answers[0].status_code == route.status
    assert {answer.status_code for answer in answers[1:]} <= {200, 403, 404, 400, 406, 413}


@pytest.mark.parametrize(
    "route",
    [route for route in ROUTES if not route.is_public],
    ids=lambda route: f"{route.method} {route.path}",
)
def test_a_defect_is_described_too(api: Api, route: Route) -> None:
    api.manager.failure = RuntimeError("x")

    valid(ask(api, route), route)
