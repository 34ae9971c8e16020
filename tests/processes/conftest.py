"""Programs that a test starts end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def ended_afterwards() -> Iterator[Callable[[Any], Any]]:
    """Yield a function that registers a program; at the end of the test the program is killed if it runs."""
    programs: list[Any] = []

    def note(program: Any) -> Any:
        programs.append(program)
        return program

    yield note
    for program in programs:
        program.close()
