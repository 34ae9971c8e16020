"""Refusals by the cloud in use cases that call it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from blazar.domain.errors import CloudConflict, CloudDisagrees, CloudNotFound, CloudRefused


@contextmanager
def cloud_errors_as_conflicts(kind: type[CloudDisagrees] = CloudDisagrees) -> Iterator[None]:
    """Report cloud refusals as 409 with the cloud's message, because the caller may be able to act on it.

    Raises:
        CloudDisagrees: Of this kind; it replaces the errors of the cloud adapters, except for
            ``CloudUnavailable``.
    """
    try:
        yield
    except (CloudConflict, CloudNotFound, CloudRefused) as error:
        raise kind(f"Not possible at this time: {error.message}") from error
