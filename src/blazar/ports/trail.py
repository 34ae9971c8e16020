"""What a thread works on, so that whatever it logs or asks of others can be followed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Trail(Protocol):
    """Remembers for each thread by itself what it works on."""

    def working_on(
        self, *, lease_id: str | None = None, reservation_id: str | None = None
    ) -> AbstractContextManager[None]:
        """Say what this thread works on until the end of the block, beside what is known already.

        What is not done for a request gets an id as if it were one.
        """


class NoTrail:
    """Implements :class:`Trail` where nobody follows."""

    def working_on(
        self, *, lease_id: str | None = None, reservation_id: str | None = None
    ) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()
