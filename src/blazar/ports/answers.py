"""Port: stored answers to requests that have an idempotency key.

Errors of the database are those of :mod:`blazar.ports.store`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """The answer to a request that took effect."""

    key: str
    """A digest of the idempotency key and its scope."""
    request_digest: str
    """A digest of the request, by which a different request with the same key is detected."""
    answer: str
    """JSON text."""
    created_at: datetime


class AnswerStore(Protocol):
    """Answers by key. They outlive the objects that the requests created."""

    def find(self, key: str) -> StoredAnswer | None:
        """Return the stored answer, or None."""

    def insert(self, answer: StoredAnswer) -> None:
        """Add an answer. If another transaction is adding one with the same key, wait for its outcome.

        Raises:
            AlreadyAnswered: The key has an answer.
            ConcurrentUpdate: Possibly only at the commit, on a cluster: the same, on another node.
        """

    def delete_before(self, instant: datetime) -> int:
        """Delete the answers that were stored before an instant; return their number."""
