"""Context of log lines: the request, its caller, the lease and the reservation.

The context is an oslo.context as known to oslo.log, one per thread: ``logging_context_format_string`` finds
``request_id``, ``global_request_id``, ``user_id``, ``project_id``, ``lease_id`` and ``reservation_id``, the
JSON formatter lists them under ``context``, and ``%(instance)s`` is ``[lease … reservation …]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from oslo_context import context as oslo
from oslo_context.context import RequestContext

if TYPE_CHECKING:
    from blazar.ports.log_context import LogContext
    from blazar.ports.manager import Caller

ResultT = TypeVar("ResultT")

_ID = re.compile(r"[0-9A-Za-z-]{1,36}")
CALENDARS = "/v1/calendars/"
"""The start of the paths of calendars; the rest is a secret."""
_SECRET_PATH = re.compile(r"(/calendars/).+", re.DOTALL)
INSTANCE_FORMAT = "[%(uuid)s] "
"""This service's default for oslo.log's option ``instance_format``."""


class LeaseRequestContext(RequestContext):
    """A request context with the lease that the request refers to, if known.

    As with every oslo context, creating one makes it the context of the thread.
    """

    lease_id: str | None = None
    reservation_id: str | None = None

    @property
    def instance(self) -> str | None:
        """Return the text that oslo.log shows as ``%(instance)s``."""
        parts = [
            f"{word} {each}"
            for word, each in (("lease", self.lease_id), ("reservation", self.reservation_id))
            if each
        ]
        return " ".join(parts) or None

    def get_logging_values(self) -> dict[str, Any]:
        """Return the values that may be logged; tokens are left out."""
        values: dict[str, Any] = super().get_logging_values()
        return {
            **values,
            "user_id": self.user_id,
            "lease_id": self.lease_id,
            "reservation_id": self.reservation_id,
        }


class ThreadLogContext:
    """Implements :class:`blazar.ports.log_context.LogContext`."""

    @contextmanager
    def working_on(self, *, lease_id: str | None = None, reservation_id: str | None = None) -> Iterator[None]:
        """Add the lease and reservation to this thread's context; without a request, create a context."""
        present = oslo.get_current()
        with _restored(present):
            values = _kept(present) if present is not None else {}
            _enter(
                LeaseRequestContext(overwrite=True, **values),
                lease_id or getattr(present, "lease_id", None),
                reservation_id or getattr(present, "reservation_id", None),
            )
            yield


@contextmanager
def serving(caller: Caller, lease_id: str | None = None) -> Iterator[None]:
    """Set the context of this thread to a request of *caller* for the duration of the block."""
    with _restored(oslo.get_current()):
        context = LeaseRequestContext(
            overwrite=True,
            request_id=caller.request_id or None,
            global_request_id=caller.global_request_id,
            user_id=caller.user_id,
            project_id=caller.project_id,
            roles=list(caller.roles),
        )
        _enter(context, shown_id(lease_id), None)
        yield


@contextmanager
def arriving(request_id: str, global_request_id: str | None) -> Iterator[None]:
    """Set the context of this thread to a request of an unknown caller for the duration of the block."""
    with _restored(oslo.get_current()):
        LeaseRequestContext(overwrite=True, request_id=request_id, global_request_id=global_request_id)
        yield


def carried(act: Callable[[], ResultT]) -> Callable[[], ResultT]:
    """Return *act* for another thread, where it runs with the context of this thread."""
    present = oslo.get_current()

    def there() -> ResultT:
        with _restored(oslo.get_current()):
            if present is not None:
                present.update_store()
            return act()

    return there


def shown_id(given: str | None) -> str | None:
    """Return an id that a client sent if it is well-formed; else None, so that it is not logged."""
    return given if given is not None and _ID.fullmatch(given) else None


def shown_path(path: str) -> str:
    """Return a path for the log, without the token of a calendar; repeated slashes do not reveal it."""
    return _SECRET_PATH.sub(r"\1***", path)


def global_request_id() -> str | None:
    """Return the request id to send with calls of this thread; None without a context."""
    present = oslo.get_current()
    return None if present is None else str(present.global_id)


def _kept(present: RequestContext) -> dict[str, Any]:
    """Return the facts about a request in a context, without secrets."""
    return {
        "request_id": present.request_id,
        "global_request_id": present.global_request_id,
        "user_id": present.user_id,
        "project_id": present.project_id,
        "roles": list(present.roles),
    }


def _enter(context: LeaseRequestContext, lease_id: str | None, reservation_id: str | None) -> None:
    context.lease_id, context.reservation_id = lease_id, reservation_id


@contextmanager
def _restored(present: RequestContext | None) -> Iterator[None]:
    """Restore the thread's previous context, or none."""
    try:
        yield
    finally:
        if present is not None:
            present.update_store()
        else:
            # There is no public function for this; the library's own test fixture does the same.
            vars(oslo._request_store).pop("context", None)


if TYPE_CHECKING:

    def _witness(log_context: ThreadLogContext) -> LogContext:
        return log_context
