"""Calls to the operator's filters: whether a lease may be created or changed, and the outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from blazar.booking.context import Context
from blazar.booking.search import holdings_of
from blazar.booking.usage import bare_document, fitting, usage_of
from blazar.domain.errors import BlazarError, Unavailable
from blazar.domain.lease import Holdings, Lease, LeaseId, LeaseStatus, ReservationId
from blazar.ports.enforcement import (
    Cost,
    EnforcementFilter,
    EstimatesCost,
    JsonObject,
    LeaseUsage,
    Occasion,
)
from blazar.ports.outbox import Message
from blazar.ports.store import Transaction

PREFIX = "enforcement."
"""Prefix of the event types of filter messages, which share the outbox with the notifications."""

_logger = logging.getLogger(__name__)

AllHoldings = Mapping[ReservationId, Holdings]


@dataclass(slots=True, kw_only=True)
class Enforcing:
    """The filter checks of one request. Retries of the request do not repeat an unchanged check."""

    context: Context
    _key: str = ""
    _about: object = None
    _asked: JsonObject | None = None
    _usage: LeaseUsage | None = None
    _allowed_by: list[str] = field(default_factory=list)

    def check_create(self, lease: Lease, holdings: AllHoldings) -> None:
        """Return if every filter allows the new lease. Raises the error of the first filter that refuses."""
        if self.context.filters:
            usage = usage_of(self.context, lease, holdings, status=LeaseStatus.CREATING)
            about = _question(usage.document)
            self._ask(about, usage, lambda each, key: each.check_create(usage, key))

    def check_update(self, current: Lease, held: AllHoldings, lease: Lease, holdings: AllHoldings) -> None:
        """Return if every filter allows the change. Raises as :meth:`check_create` does."""
        if self.context.filters:
            before = usage_of(self.context, current, held, status=LeaseStatus.UPDATING)
            usage = usage_of(self.context, lease, holdings, status=LeaseStatus.UPDATING)
            about = (_question(before.document), _question(usage.document))
            self._ask(about, usage, lambda each, key: each.check_update(before, usage, key))

    def costs(self) -> list[JsonObject]:
        """Return the cost of the lease that was allowed last, from each filter that returns one.

        A filter that fails is left out: the lease is allowed, with or without a known cost.
        """
        if self._usage is None:
            return []
        found: list[JsonObject] = []
        for name, each in self.context.filters.items():
            cost = _cost_of(each, name, self._usage)
            if cost is not None:
                found.append({"filter": name, "amount": f"{cost.amount.normalize():f}", "unit": cost.unit})
        return found

    def commit(self, transaction: Transaction) -> None:
        """Queue messages to the filters, in the same transaction, that the allowed lease is stored."""
        self._tell(transaction, Occasion.COMMIT)

    def abort(self, transaction: Transaction) -> None:
        """Queue messages to the filters, in the same transaction, that the lease is not stored."""
        self._tell(transaction, Occasion.ABORT)
        self._allowed_by = []

    @contextmanager
    def aborted_on_failure(self) -> Iterator[None]:
        """Notify the filters if what they allowed is not stored, and re-raise the error.

        If the database did not respond, the outcome is unknown and no message is sent. State that a filter
        keeps for a check must therefore expire.
        """
        try:
            yield
        except Unavailable:
            raise
        except Exception:
            self._abort()
            raise

    @contextmanager
    def aborted(self) -> Iterator[None]:
        """Notify the filters, however the block ends, that what they allowed is not stored."""
        try:
            yield
        finally:
            self._abort()

    def _ask(self, about: object, usage: LeaseUsage, ask: Callable[[EnforcementFilter, str], None]) -> None:
        if about == self._about:
            return
        # A concurrent request was faster and other resources were found: this is a different check.
        self._abort()
        self._key, self._about = self.context.new_id(), about
        self._asked, self._usage, self._allowed_by = usage.document, usage, []
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
            _logger.warning("cannot notify the filters that a lease was not stored: reason=%s", error)
        except Exception:
            _logger.exception("cannot notify the filters that a lease was not stored")
        self._allowed_by = []

    def _tell(self, transaction: Transaction, occasion: Occasion) -> None:
        if self._asked is not None:
            _send(self.context, transaction, self._allowed_by, occasion, self._asked, self._key)


def tell_end(context: Context, transaction: Transaction, lease: Lease) -> None:
    """Notify the filters that a lease ends or is deleted before its end; call this once per lease.

    Neither a filter nor a plugin can prevent the end: if the document cannot be built, the filters receive
    one without resources.
    """
    if not context.filters:
        return
    held = transaction.allocations.of_reservations([each.id for each in lease.reservations])
    try:
        document = usage_of(context, lease, holdings_of(held), status=lease.status).document
    except BlazarError:
        raise  # a database error: the transaction is lost as well
    except Exception:
        _logger.exception("notifying filters of an end without its resources: lease_id=%s", lease.id)
        document = bare_document(lease)
    _send(context, transaction, context.filters, Occasion.ON_END, document, f"on-end-{lease.id}")


class FilterNotifier:
    """Delivers messages to filters; implements :class:`blazar.ports.outbox.Notifier`."""

    def __init__(self, filters: Mapping[str, EnforcementFilter]) -> None:
        self._filters = filters

    def notify(self, event_type: str, payload: JsonObject) -> None:
        """Deliver a message; skip it if its filter is no longer enabled. Raises Unavailable on failure."""
        found = self._filters.get(str(payload["filter"]))
        document = payload["lease"]
        if found is not None and isinstance(document, Mapping):
            found.deliver(Occasion(event_type.removeprefix(PREFIX)), document, str(payload["key"]))


def _question(document: JsonObject) -> object:
    """Return the part of a document that identifies a check: without timestamps and event ids."""
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
    project_id = document["project_id"] if isinstance(document["project_id"], str) else None
    wanting = [name for name in names if _wants(context.filters[name], name, occasion, project_id)]
    if not wanting:
        return
    document = fitting(document)
    messages = [
        Message(
            event_type=PREFIX + occasion,
            lease_id=LeaseId(str(document["id"])),
            payload={"filter": name, "key": key, "lease": document},
        )
        for name in wanting
    ]
    transaction.outbox.append(messages, context.clock.now())


def _cost_of(each: EnforcementFilter, name: str, usage: LeaseUsage) -> Cost | None:
    if not isinstance(each, EstimatesCost):
        return None
    try:
        return each.cost_of(usage)
    except BlazarError as error:
        _logger.warning("a filter did not return the cost of a lease: filter=%s reason=%s", name, error)
    except Exception:
        _logger.exception("a filter failed to return the cost of a lease: filter=%s", name)
    return None


def _wants(each: EnforcementFilter, name: str, occasion: Occasion, project_id: str | None) -> bool:
    try:
        return each.wants(occasion, project_id)
    except Exception:
        # The filter may need the message, so send it.
        _logger.exception("cannot ask a filter whether it wants a message; sending it: filter=%s", name)
        return True
