"""Ports: messages that are sent after the commit of the change that they report, and their delivery."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from blazar.domain.lease import LeaseId


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A notification, or a message to a filter. ``payload`` is JSON."""

    id: int = 0
    event_type: str
    lease_id: LeaseId
    payload: Mapping[str, object]
    attempts: int = 0
    created_at: datetime | None = None
    """Time at which it was added to the outbox or last resent; None if it is not stored yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A stored message, for operators. ``payload`` is text that may not be JSON."""

    id: int
    event_type: str
    lease_id: str
    payload: str
    attempts: int
    created_at: datetime | None
    due_at: datetime
    failed_at: datetime | None
    """Time at which the service gave up delivery; None while delivery is tried."""
    problem: str | None
    """Reason why the last attempt failed."""


class Outbox(Protocol):
    """Messages that are sent after the commit, at least once, or kept as failed for an operator to decide."""

    def append(self, messages: Sequence[Message], at: datetime) -> None:
        """Add messages."""

    def take(self, now: datetime, until: datetime, limit: int) -> tuple[Message, ...]:
        """Return due messages, oldest first; no other sender gets them before *until*.

        A message whose payload is not JSON is marked as failed and omitted. Failed messages are never due.
        """

    def remove(self, message_ids: Collection[int]) -> None:
        """Delete messages."""

    def postpone(self, message_id: int, until: datetime, problem: str) -> None:
        """Schedule another attempt at *until*; *problem* says why delivery failed."""

    def fail(self, message_id: int, at: datetime, problem: str) -> None:
        """Mark a message as failed: it is kept, and delivery is not tried again."""

    def resend(self, message_ids: Collection[int], at: datetime) -> None:
        """Make messages, including failed ones, due at *at*; reset their attempts and their age."""

    def find(self, message_id: int) -> Letter | None:
        """Return a message, or None."""

    def list(self, *, failed: bool, limit: int) -> tuple[Letter, ...]:
        """Return messages, oldest first: those that failed, or those that are still tried."""


class Notifier(Protocol):
    """Delivers one notification."""

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        """Deliver a notification, or raise within seconds.

        Raises:
            Unavailable: The receiver cannot be reached; other notifications could not be delivered either.
        """
