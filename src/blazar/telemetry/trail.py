"""What the lines of a log are about: the request, who makes it, the lease and the reservation.

This is oslo.context as oslo.log knows it, one context a thread: ``logging_context_format_string`` finds
``request_id``, ``global_request_id``, ``user_id``, ``project_id``, ``lease_id`` and ``reservation_id``, the
JSON formatter has them below ``context``, and the usual ``%(instance)s`` is ``[lease … reservation …]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from oslo_context import context as oslo
from oslo_context.context import RequestContext

if TYPE_CHECKING:
    from blazar.ports.manager import Caller
    from blazar.ports.trail import Trail

ResultT = TypeVar("ResultT")

_ID = re.compile(r"[0-9A-Za-z-]{1,36}")
INSTANCE_FORMAT = "[%(uuid)s] "
"""oslo.log's option ``instance_format`` as this service has it by default."""


class LogContext(RequestContext):
    """A request's context with the lease that it is about, if that is known.

    Making one puts it in the thread's place, as for every context of oslo's.
    """

    lease_id: str | None = None
    reservation_id: str | None = None

    @property
    def instance(self) -> str | None:
        """Return what oslo.log shows as ``%(instance)s``."""
        parts = [
            f"{word} {each}"
            for word, each in (("lease", self.lease_id), ("reservation", self.reservation_id))
            if each
        ]
        return " ".join(parts) or None

    def get_logging_values(self) -> dict[str, Any]:
        """Return what may stand in a log; a token is left out."""
        values: dict[str, Any] = super().get_logging_values()
        return {
            **values,
            "user_id": self.user_id,
            "lease_id": self.lease_id,
            "reservation_id": self.reservation_id,
        }


class LogTrail:
    """Implements :class:`blazar.ports.trail.Trail`."""

    @contextmanager
    def working_on(self, *, lease_id: str | None = None, reservation_id: str | None = None) -> Iterator[None]:
        """Say what this thread works on, beside what is known already; without a request, it is one."""
        present = oslo.get_current()
        with _restored(present):
            values = _kept(present) if present is not None else {}
            _enter(
                LogContext(overwrite=True, **values),
                lease_id or getattr(present, "lease_id", None),
                reservation_id or getattr(present, "reservation_id", None),
            )
            yield


@contextmanager
def serving(caller: Caller, lease_id: str | None = None) -> Iterator[None]:
    """Say that this thread deals with a request of *caller*, until the end of the block."""
    with _restored(oslo.get_current()):
        context = LogContext(
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
    """Say that this thread deals with a request of somebody not known yet, until the end of the block."""
    with _restored(oslo.get_current()):
        LogContext(overwrite=True, request_id=request_id, global_request_id=global_request_id)
        yield


def carried(act: Callable[[], ResultT]) -> Callable[[], ResultT]:
    """Return *act* for another thread, which works on the same as this one meanwhile."""
    present = oslo.get_current()

    def there() -> ResultT:
        with _restored(oslo.get_current()):
            if present is not None:
                present.update_store()
            return act()

    return there


def shown_id(given: str | None) -> str | None:
    """Return an id that somebody sent if it can be one; else None: whatever it is does not go into a log."""
    return given if given is not None and _ID.fullmatch(given) else None


def global_request_id() -> str | None:
    """Return the id under which others are to note calls that this thread makes; None for nothing special."""
    present = oslo.get_current()
    return None if present is None else str(present.global_id)


def _kept(present: RequestContext) -> dict[str, Any]:
    """Return what a context says of a request; whatever of it is secret is not needed."""
    return {
        "request_id": present.request_id,
        "global_request_id": present.global_request_id,
        "user_id": present.user_id,
        "project_id": present.project_id,
        "roles": list(present.roles),
    }


def _enter(context: LogContext, lease_id: str | None, reservation_id: str | None) -> None:
    context.lease_id, context.reservation_id = lease_id, reservation_id


@contextmanager
def _restored(present: RequestContext | None) -> Iterator[None]:
    """Give the thread back the context that it had, or none."""
    try:
        yield
    finally:
        if present is not None:
            present.update_store()
        else:
            # There is no public way; the library's own test fixture does this, too.
            vars(oslo._request_store).pop("context", None)


if TYPE_CHECKING:

    def _witness(trail: LogTrail) -> Trail:
        return trail
