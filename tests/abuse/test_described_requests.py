"""The OpenAPI document describes all responses, to valid and to invalid requests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from abuse import target
from abuse.described import Case, Operation, ask, boundary_cases, operations
from abuse.likely import likely_operations
from abuse.target import REPLACEMENTS, Target
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from turns import part

EXAMPLES = int(os.environ.get("BLAZAR_TEST_REQUESTS", "8"))
"""The number of requests for each operation and each of the three ways to generate them."""
PARTS = 2
"""A run tries every second operation: the requests are the same each time."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    found = target.start(tmp_path_factory.mktemp("described"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def likely(service: Target) -> dict[str, Operation]:
    return {each.label: each for each in likely_operations(service.network_id)}


def ways(operation: Operation) -> list[st.SearchStrategy[Case]]:
    """Return strategies for valid requests and, if the operation has constraints, for invalid requests."""
    found = [operation.as_strategy(generation_mode=GenerationMode.POSITIVE)]
    if operation.query or operation.body:
        found.append(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    return found


def fill(case: Case, service: Target) -> None:
    """Give a request the ids of objects that exist; a request that only reads leaves them there."""
    if case.method.upper() != "GET":
        service.stock()
    path = case.operation.path
    case.path_parameters = service.ids(path, case.path_parameters)
    if path.endswith(REPLACEMENTS):
        case.body, case.media_type = service.replacement(), "application/json"


@pytest.mark.parametrize("operation", operations()[part(PARTS) :: PARTS], ids=lambda each: each.label)
def test_every_answer_is_one_that_the_document_describes(
    service: Target, likely: dict[str, Operation], operation: Operation
) -> None:
    answers: Counter[int] = Counter()

    def try_out(case: Case) -> None:
        status = ask(case, service.url)
        # Boundary cases include other methods of the path.
        if case.method.upper() == operation.method.upper():
            answers[status] += 1

    def play(cases: st.SearchStrategy[Case], *, is_known: bool) -> None:
        @settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases)
        def each(case: Case) -> None:
            if is_known:
                fill(case, service)
            try_out(case)

        each()

    for case in boundary_cases(operation):
        try_out(case)
    for way in ways(operation):
        play(way, is_known=False)
    service.stock()
    play(likely[operation.label].as_strategy(), is_known=True)
    print(operation.label, dict(sorted(answers.items())))
    assert any(200 <= status < 400 for status in answers), answers


def test_an_answer_that_the_document_does_not_describe_is_noticed(service: Target) -> None:
    (found,) = (each for each in operations(without="200") if each.label == "GET /v1/leases")

    with pytest.raises(FailureGroup, match="200"):
        ask(found.Case(), service.url)
