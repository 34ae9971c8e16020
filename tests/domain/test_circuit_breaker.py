"""The circuit breaker tolerates single missing responses of a cloud, but not a cloud that is down."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blazar.domain.circuit_breaker import CircuitBreaker
from blazar.domain.errors import CloudConflict, CloudUnavailable


class Flaky:
    """A cloud that responds, or fails to respond, as given for each call."""

    def __init__(self, *answers: bool) -> None:
        self._answers: Iterator[bool] = iter(answers)

    def ask(self) -> str:
        if not next(self._answers):
            raise CloudUnavailable("no answer")
        return "answer"


def test_what_is_answered_is_returned_and_what_is_not_is_an_error_to_go_on_with() -> None:
    breaker, flaky = CircuitBreaker(), Flaky(True, False, False, True, False, False, True)

    answers = [breaker.call(flaky.ask) for _ in range(7)]

    assert [isinstance(each, CloudUnavailable) for each in answers] == [False, True, True] * 2 + [False]
    assert answers[0] == answers[3] == "answer"


def test_the_third_silence_in_a_row_is_one_too_many() -> None:
    breaker, flaky = CircuitBreaker(), Flaky(True, False, False, False)
    for _ in range(3):
        breaker.call(flaky.ask)

    with pytest.raises(CloudUnavailable, match="no answer"):
        breaker.call(flaky.ask)


def test_other_errors_are_no_silence() -> None:
    def refuse() -> None:
        raise CloudConflict("not now")

    for _ in range(5):
        with pytest.raises(CloudConflict):
            CircuitBreaker().call(refuse)
