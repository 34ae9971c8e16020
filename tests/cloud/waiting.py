"""Waiting for a real cloud."""

from __future__ import annotations

from collections.abc import Callable

from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed


def wait_until(is_so: Callable[[], bool], seconds: float) -> None:
    """Return when a condition is met. Raises RetryError after a timeout."""
    Retrying(
        retry=retry_if_result(lambda result: not result),
        wait=wait_fixed(0.2),
        stop=stop_after_delay(seconds),
    )(is_so)
