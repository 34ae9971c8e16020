"""Requirements of tests on the machine: if one is missing, tests are skipped; in CI they fail."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def give_up(reason: str) -> NoReturn:
    """Skip the test, or fail it if ``CI`` is set; *reason* says what is missing."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
