"""Records of refused requests, which say how much more would have been reserved with more resources."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from blazar.app.leases.new_lease import NewLease, new_lease
from blazar.app.request_work import RequestWork
from blazar.domain.errors import BlazarError, NotEnoughResources

_logger = logging.getLogger(__name__)


@contextmanager
def recording_refusal(work: RequestWork, request: NewLease) -> Iterator[None]:
    """Record the request if it is refused inside this context for lack of free resources.

    A refusal by a quota or a usage rule is not recorded, since more resources would not change it.
    """
    try:
        yield
    except NotEnoughResources:
        _record(work, request)
        raise


def _record(work: RequestWork, request: NewLease) -> None:
    context, now = work.context, work.context.clock.now()
    asked = _asked(work, request)
    if context.recent_refusals.knows(asked, now):
        return
    lease = new_lease(work, request, before_end=None)
    try:
        with context.store.begin() as transaction:
            if transaction.usage.record_refused(lease, now):
                transaction.commit()
        context.recent_refusals.add(asked, now)
    except BlazarError as error:
        # The refusal itself is right, and a concurrent request may have recorded the same.
        _logger.info("cannot record a refused request: reason=%s", error)


def _asked(work: RequestWork, request: NewLease) -> str:
    """Return what was requested and for whom, without the ids, which are new each time."""
    wanted = [(each.resource_type, each.spec, each.grouping) for each in request.reservations]
    return repr((work.caller.project_id, request.start, request.end, wanted))
