"""Nothing that a test started outlives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def ended_afterwards() -> Iterator[Callable[[Any], Any]]:
    """Return what has a program killed at the end of the test, if it still runs then."""
    programs: list[Any] = []

    def note(program: Any) -> Any:
        programs.append(program)
        return program

    yield note
    for program in programs:
        program.close()
