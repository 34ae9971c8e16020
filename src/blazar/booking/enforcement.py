"""Asking the operator's filters whether a lease may be made or changed, and telling them what came of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from blazar.booking.search import holdings_of
from blazar.booking.context import Context
from blazar.booking.usage import usage_of
from blazar.domain.errors import BlazarError, Unavailable
from blazar.domain.lease import Holdings, Lease, LeaseId, LeaseStatus, ReservationId
from blazar.ports.enforcement import EnforcementFilter, JsonObject, LeaseUsage, Occasion
from blazar.ports.store import Message, Transaction

PREFIX = "enforcement."
"""Of the event types of messages to filters, which lie in the outbox among the notifications."""

_logger = logging.getLogger(__name__)

AllHoldings = Mapping[ReservationId, Holdings]


@dataclass(slots=True, kw_only=True)
class Enforcing:
    """The questions of one request. The same one is asked once, however often the request is begun again."""

    context: Context
    _key: str = ""
    _about: object = None
    _asked: JsonObject | None = None
    _allowed_by: list[str] = field(default_factory=list)

    def check_create(self, lease: Lease, holdings: AllHoldings) -> None:
        """Return if every filter lets the lease be made. Raises what the first one that does not raises."""
        if self.context.filters:
            usage = usage_of(self.context, lease, holdings, status=LeaseStatus.CREATING)
            about = _question(usage.document)
            self._ask(about, usage, lambda each, key: each.check_create(usage, key))

    def check_update(self, current: Lease, held: AllHoldings, lease: Lease, holdings: AllHoldings) -> None:
        """Return if every filter lets the lease be changed; else as :meth:`check_create`."""
        if self.context.filters:
            before = usage_of(self.context, current, held, status=LeaseStatus.UPDATING)
            usage = usage_of(self.context, lease, holdings, status=LeaseStatus.UPDATING)
            about = (_question(before.document), _question(usage.document))
            self._ask(about, usage, lambda each, key: each.check_update(before, usage, key))

    def commit(self, transaction: Transaction) -> None:
        """Have the filters told that what they allowed is stored, together with that."""
        self._tell(transaction, Occasion.COMMIT)

    @contextmanager
    def aborted_on_failure(self) -> Iterator[None]:
        """Have the filters told if what they allowed is not stored, and let the error out.

        Without an answer of the database nobody knows; what a filter keeps for such a question has to end
        by itself.
        """
        try:
            yield
        except Unavailable:
            raise
        except Exception:
            self._abort()
            raise

    def _ask(self, about: object, usage: LeaseUsage, ask: Callable[[EnforcementFilter, str], None]) -> None:
        if about == self._about:
            return
        # Somebody was faster, and other resources were found: that is another question.
        self._abort()
        self._key, self._about = self.context.new_id(), about
        self._asked, self._allowed_by = usage.document, []
        for name, each in self.context.filters.items():
            ask(each, self._key)
            self._allowed_by.append(name)

    def _abort(self) -> None:
        if not self._allowed_by:
            return
        try:
            with self.context.store.begin() as transaction:
                self._tell(transaction, Occasion.ABORT)
                transaction.commit()
        except BlazarError as error:
            _logger.warning("filters are not told that a lease was not stored: %s", error)
        self._allowed_by = []

    def _tell(self, transaction: Transaction, occasion: Occasion) -> None:
        if self._asked is not None:
            _send(self.context, transaction, self._allowed_by, occasion, self._asked, self._key)


def tell_end(context: Context, transaction: Transaction, lease: Lease) -> None:
    """Have the filters told that a lease ends, or is deleted before its end; to be called once for each."""
    if context.filters:
        held = transaction.allocations.of_reservations([each.id for each in lease.reservations])
        document = usage_of(context, lease, holdings_of(held), status=lease.status).document
        _send(context, transaction, context.filters, Occasion.ON_END, document, f"on-end-{lease.id}")


class FilterNotifier:
    """Gives messages to filters; implements :class:`blazar.ports.notifier.Notifier`."""

    def __init__(self, filters: Mapping[str, EnforcementFilter]) -> None:
        self._filters = filters

    def notify(self, event_type: str, payload: JsonObject) -> None:
        """Deliver; raises Unavailable if it could not be. A filter that is enabled no more is passed over."""
        found = self._filters.get(str(payload["filter"]))
        document = payload["lease"]
        if found is not None and isinstance(document, Mapping):
            found.deliver(Occasion(event_type.removeprefix(PREFIX)), document, str(payload["key"]))


def _question(document: JsonObject) -> object:
    """Return what a question is about: not when it was asked, nor under which ids events would be stored."""
    reservations = document["reservations"]
    assert isinstance(reservations, list)
    return {
        **_without_times({key: each for key, each in document.items() if key != "events"}),
        "reservations": [_without_times(each) for each in reservations],
    }


def _without_times(document: JsonObject) -> JsonObject:
    return {key: each for key, each in document.items() if key not in ("created_at", "updated_at")}


def _send(
    context: Context,
    transaction: Transaction,
    names: Iterable[str],
    occasion: Occasion,
    document: JsonObject,
    key: str,
) -> None:
    project_id = document["project_id"]
    messages = [
        Message(
            event_type=PREFIX + occasion,
            lease_id=LeaseId(str(document["id"])),
            payload={"filter": name, "key": key, "lease": document},
        )
        for name in names
        if context.filters[name].wants(occasion, project_id if isinstance(project_id, str) else None)
    ]
    if messages:
        transaction.outbox.append(messages, context.clock.now())
