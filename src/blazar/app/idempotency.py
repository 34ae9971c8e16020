"""Requests with an idempotency key: each takes effect once, and repeating it returns the stored answer.

A use case stores its answer in the transaction that makes the change, under a unique key. Of concurrent
requests with one key, one commits; the others undo what they did outside the database, and return its answer.
A refused request stores nothing, so the same request may succeed later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TypeVar

from blazar.booking.context import Context
from blazar.domain.errors import BlazarError, IdempotencyKeyReused, Unavailable
from blazar.ports.answers import StoredAnswer
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

JsonObject = Mapping[str, object]
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedRequest:
    """A request that takes effect at most once: the digests of its key and of its content."""

    key: str
    digest: str


def keyed_request(caller: Caller, key: str, operation: str, body: JsonObject) -> KeyedRequest:
    """Return a request whose *key* is known only to the project and the user of its caller.

    Args:
        caller: The caller.
        key: The value of the header.
        operation: The name of the use case; a key cannot be used again for another one.
        body: The content of the request.
    """
    return KeyedRequest(
        key=_digest([caller.project_id, caller.user_id, key]), digest=_digest([operation, body])
    )


def perform_once(
    context: Context, request: KeyedRequest, perform: Callable[[], JsonObject]
) -> tuple[JsonObject, bool]:
    """Return the answer to a request, and whether it is the stored one of an earlier request.

    Args:
        context: The context.
        request: The request.
        perform: Performs it and stores the answer; called unless there is a stored one.

    Raises:
        IdempotencyKeyReused: This key was sent with a different request before.
        BlazarError: What *perform* raises, unless a concurrent request with this key took effect.
    """
    answer = _find_answer(context, request)
    if answer is not None:
        return answer, True
    return performed_or_found(
        lambda: (perform(), False),
        lambda: None if (found := _find_answer(context, request)) is None else (found, True),
    )


def performed_or_found(perform: Callable[[], ResultT], find: Callable[[], ResultT | None]) -> ResultT:
    """Return the result of *perform*, or if it is refused, the one that *find* returns.

    It may be refused because another execution of the same request took what it needs; *find* looks for that
    one's result.

    Raises:
        BlazarError: What *perform* raises, if nothing is found; Unavailable in any case.
    """
    try:
        return perform()
    except Unavailable:
        raise
    except BlazarError:
        found = find()
        if found is None:
            raise
        return found


def store_answer(
    transaction: Transaction, request: KeyedRequest | None, answer: JsonObject, at: datetime
) -> None:
    """Store the answer to a request, if it has a key; call this before any other change.

    Raises:
        AlreadyAnswered: A concurrent request with this key was faster.
    """
    if request is not None:
        transaction.answers.insert(
            StoredAnswer(
                key=request.key,
                request_digest=request.digest,
                answer=json.dumps(answer),
                created_at=at,
            )
        )


def _find_answer(context: Context, request: KeyedRequest) -> JsonObject | None:
    with context.store.read() as transaction:
        found = transaction.answers.find(request.key)
    if found is None:
        return None
    if found.request_digest != request.digest:
        raise IdempotencyKeyReused
    answer: JsonObject = json.loads(found.answer)
    return answer


def _digest(value: object) -> str:
    """Return the same text for equal JSON values, whatever the order of their keys."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
