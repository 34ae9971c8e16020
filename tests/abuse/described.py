"""Requests generated from the OpenAPI document, both valid and invalid ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import schemathesis
from schemathesis import APIOperation, CheckFunction, GenerationMode
from schemathesis import Case as AnyCase
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

Json = dict[str, Any]
Operation = APIOperation[Any, Any, Any, Any]
Case = AnyCase[Any]

DOCUMENT: Final[Json] = json.loads((Path(__file__).parents[2] / "doc" / "openapi.json").read_text())
SECONDS: Final = 60
# Unknown parameters are ignored, which a schema cannot express.
# Nor can it express all rules of leases, such as the order of dates and the syntax of requirements.
_NOT_ASKED: Final[list[CheckFunction]] = [positive_data_acceptance]


def operations(without: str = "") -> list[Operation]:
    """Return the operations of the document, without the responses of a status if one is given."""
    document = copy.deepcopy(DOCUMENT)
    for operation in each_operation(document):
        operation["responses"].pop(without, None)
    return loaded(document)


def boundary_cases(operation: Operation) -> Iterator[Case]:
    """Yield cases just inside and just outside each constraint of an operation, deterministically."""
    schema = operation.schema
    yield from schema.iter_coverage_cases(
        operation,
        generation_modes=list(GenerationMode),
        generation_config=schema.config.generation_for(operation=operation),
    )


def ask(case: Case, url: str) -> int:
    """Send a request, assert that the document describes the response, and return its status.

    Args:
        case: The request.
        url: The URL of the service, without a path.
    """
    answer = case.call(base_url=url, timeout=SECONDS)
    unasked = [*_NOT_ASKED, negative_data_rejection] if case.operation.query else _NOT_ASKED
    case.validate_response(answer, excluded_checks=unasked)
    return answer.status_code


def each_operation(document: Json) -> Iterator[Json]:
    """Yield the operations of a document."""
    return (operation for path in document["paths"].values() for operation in path.values())


def loaded(document: Json) -> list[Operation]:
    """Return the operations of a document, for generating requests."""
    # Authentication is not tested here: a wrong password takes a quarter of a second by design.
    known = {**document, "security": []}
    found = schemathesis.openapi.from_dict(known).get_all_operations()
    return [each.ok() for each in found]  # type: ignore[union-attr]  # Invalid operations have no ok().
