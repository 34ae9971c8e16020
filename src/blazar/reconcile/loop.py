"""The reconciler of one manager: timers and wake-ups decide when it looks, claims decide at what."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial

from blazar.booking.context import Context
from blazar.domain.errors import BlazarError, CloudError, ConcurrentUpdate, Unavailable
from blazar.ports import metrics
from blazar.ports.work import Claim
from blazar.reconcile.beginning import AT_ONCE, begin_waiting
from blazar.reconcile.periodic.tasks import Chore, chores
from blazar.reconcile.claims import ClaimKeeper, Interrupted
from blazar.reconcile.lease import reconcile_lease
from blazar.reconcile.outbox import SENT_AT_ONCE, OutboxSender
from blazar.reconcile.pulse import Pulse
from blazar.settings import ReconcilerSettings

_SHORTEST_WAIT = timedelta(milliseconds=5)
_CONTENDED = timedelta(milliseconds=100)
_MARKING_INTERVAL = timedelta(milliseconds=250)
_REFRESH_INTERVAL = timedelta(seconds=20)
_FAILED = "failed"

_logger = logging.getLogger(__name__)


class Reconciler:
    """Works on whatever is due; any number of them, in any number of processes, share the work."""

    def __init__(self, context: Context, name: str, sender: OutboxSender, wakeup: threading.Event) -> None:
        """Make a reconciler that is not started yet.

        Args:
            context: The context.
            name: What its claims and journal entries are signed with; unique over all managers.
            sender: Sends the outbox.
            wakeup: Set by whoever committed work in this process.
        """
        self._context = context
        self._settings = context.settings.reconciler
        self._sender = sender
        self._wakeup = wakeup
        self._keeper = ClaimKeeper(context.store, context.clock, name, self._settings.claim_duration)
        self._name = name
        self._chores = chores(context.settings)
        self._stopping = threading.Event()
        self._slots = threading.Semaphore(self._settings.workers)
        self._marked_at = datetime.min.replace(tzinfo=UTC)
        self._pulse = Pulse(context.clock, _longest_silence(self._settings))
        self._executor: ThreadPoolExecutor | None = None
        self._threads: list[threading.Thread] = []

    def run_due(self, limit: int = 1000) -> int:
        """Work on what is due now, in this thread, until nothing is; return how many passes were made.

        For tests and tools; a manager calls :meth:`start`.
        """
        passes = 0
        while passes < limit:
            claims = self._keeper.take(1)
            if not claims:
                break
            self._work(claims[0])
            passes += 1
        self._sender.send_due()
        return passes

    def renew_claims(self) -> None:
        """Hold on to what is being worked on, as a manager does by itself, again and again.

        Raises:
            ConcurrentUpdate, Unavailable: The database does not take it now.
        """
        self._keeper.renew()

    def begin_waiting(self) -> int:
        """Mark leases whose start or end is due and that nobody is at as begun with; return how many."""
        return self._while_full(AT_ONCE, partial(begin_waiting, self._context, self._name))

    def send_outbox(self) -> None:
        """Send all that is due, one batch after the other, as a manager does by itself each second.

        Raises:
            ConcurrentUpdate, Unavailable: The database does not take it now.
        """
        self._while_full(SENT_AT_ONCE, self._sender.send_due)

    def plan_chores(self) -> None:
        """Have every chore done now, as is right when a manager starts. Raises ConcurrentUpdate."""
        keys = [key for key, chore in self._chores.items() if chore.is_enabled]
        with self._context.store.begin() as transaction:
            transaction.work.schedule(keys, self._context.clock.now())
            transaction.commit()

    def start(self) -> None:
        """Begin to work in threads of its own, and plan the chores."""
        self._executor = ThreadPoolExecutor(self._settings.workers, thread_name_prefix="reconcile")
        for name, target in (
            ("dispatch", self._dispatch),
            ("renew-claims", self._renew),
            ("send-outbox", self._send),
            ("refresh-indexes", self._refresh),
        ):
            self._threads.append(threading.Thread(target=target, name=name, daemon=True))
        self._pulse.watch(self._threads)
        for thread in self._threads:
            thread.start()

    def refresh_indexes(self) -> None:
        """Learn what was booked elsewhere; called again and again while a manager has nothing to search."""
        for index in self._context.indexes.values():
            index.refresh()

    def problems(self) -> tuple[str, ...]:
        """Return why the work does not go on, in words for an operator; empty if it does. Asks nobody."""
        return self._pulse.problems()

    def stop(self) -> None:
        """Hand back what is being worked on, at its next step, and wait for that."""
        self._stopping.set()
        self._pulse.stop()
        self._keeper.stop()
        self._wakeup.set()
        # The dispatcher gives out what it has claimed, and the workers hand all of that back.
        for thread in self._threads:
            thread.join()
        if self._executor is not None:
            self._executor.shutdown(wait=True)

    def _dispatch(self) -> None:
        self._repeat(self._plan, once=True)
        self._repeat(self._dispatch_due)

    def _repeat(self, act: Callable[[], timedelta], once: bool = False) -> None:
        """Call *act* until the reconciler stops; it returns how long to wait before the next time."""
        while not self._stopping.is_set():
            try:
                pause = act()
            except BlazarError as error:
                _logger.warning("%s", error)
                self._pulse.beat(error)
                pause = self._settings.poll_interval
            except Exception as error:
                _logger.exception("the reconciler met an unexpected error and goes on")
                self._pulse.beat(error)
                pause = self._settings.poll_interval
            else:
                self._pulse.beat()
                if once:
                    return
            self._context.clock.wait(self._wakeup, pause)

    def _while_full(self, batch: int, act: Callable[[], int]) -> int:
        """Call *act* as long as it did a whole batch, until the reconciler stops; return how many in all."""
        total = 0
        while not self._stopping.is_set():
            number = act()
            total += number
            if number < batch:
                break
        return total

    def _plan(self) -> timedelta:
        self.plan_chores()
        return timedelta(0)

    def _dispatch_due(self) -> timedelta:
        """Hand due work to the workers; return how long there will be none to hand out."""
        assert self._executor is not None
        self._wakeup.clear()
        now = self._context.clock.now()
        with self._context.store.read() as transaction:
            due_at = transaction.work.next_due(now)
        wait = self._settings.poll_interval if due_at is None else due_at - now
        if wait > timedelta(0):
            return min(wait, self._settings.poll_interval)
        free = self._take_slots()
        claims: list[Claim] = []
        try:
            if free and not self._stopping.is_set():
                claims = self._keeper.take(free)
        except ConcurrentUpdate as error:
            _logger.debug("claims are tried again: %s", error)
            return _CONTENDED * self._context.random.uniform(0.5, 1)
        finally:
            self._free_slots(free - len(claims))
        wait = _SHORTEST_WAIT
        if len(claims) == free:
            wait = self._mark_waiting()
        for claim in claims:
            self._executor.submit(self._work_in_slot, claim)
        return wait

    def _mark_waiting(self) -> timedelta:
        """Begin with what nobody is free for, now and then; return how long to wait for a free worker."""
        now = self._context.clock.now()
        if timedelta(0) <= now - self._marked_at < _MARKING_INTERVAL:
            return _MARKING_INTERVAL
        self._marked_at = now
        self.begin_waiting()
        return self._settings.poll_interval  # a worker that becomes free wakes us up

    def _take_slots(self) -> int:
        """Return how many workers are free; they are taken."""
        free = 0
        while free < self._settings.workers and self._slots.acquire(blocking=False):
            free += 1
        return free

    def _free_slots(self, number: int) -> None:
        if number:
            self._slots.release(number)

    def _work_in_slot(self, claim: Claim) -> None:
        try:
            self._work(claim)
        finally:
            self._slots.release()
            self._wakeup.set()

    def _work(self, claim: Claim) -> None:
        """Work on one claim; whatever happens, it is given back or left to run out."""
        chore, meter = self._chores.get(claim.key), self._context.meter
        with self._context.trail.working_on(lease_id=None if chore else claim.key):
            if claim.taken_from is not None:
                meter.count(metrics.TAKEOVERS)
                _logger.warning("claim taken over: key=%s silent_manager=%s", claim.key, claim.taken_from)
            begun = self._context.clock.now()
            outcome = self._try(claim, chore)
            seconds = max(0.0, (self._context.clock.now() - begun).total_seconds())
        if chore is None:
            meter.observe(metrics.LOOKS_SECONDS, seconds, outcome)
        else:
            meter.observe(metrics.CHORE_SECONDS, seconds, claim.key)
        if chore is not None and outcome == _FAILED:
            meter.count(metrics.CHORE_FAILURES, claim.key)

    def _try(self, claim: Claim, chore: Chore | None) -> str:
        """Return in one word what came of the work on a claim."""
        try:
            self._keeper.check(claim)
            if chore is not None:
                self._do_chore(claim, chore)
            else:
                reconcile_lease(self._context, claim, self._name, lambda: self._keeper.check(claim))
        except Interrupted:
            self._hand_back(claim, claim.attempts)
            return "interrupted"
        except ConcurrentUpdate as error:
            _logger.debug("%s is looked at again: %s", claim.key, error)
            self._hand_back(claim, claim.attempts)
            return "overtaken"
        except (CloudError, Unavailable) as error:
            _logger.warning("work on %s is tried again: %s", claim.key, error)
            self._hand_back(claim, claim.attempts + 1)
            return _FAILED
        except Exception:
            _logger.exception("work on %s failed and is tried again", claim.key)
            self._hand_back(claim, claim.attempts + 1)
            return _FAILED
        finally:
            self._keeper.forget(claim)
        return "done"

    def _do_chore(self, claim: Claim, chore: Chore) -> None:
        """Do a chore and plan it anew; one that only another manager wanted is dropped."""
        due_at = None
        if chore.is_enabled:
            chore.run(self._context, self._name, lambda: self._keeper.check(claim))
            due_at = self._context.clock.now() + chore.interval if chore.interval else None
        with self._context.store.begin() as transaction:
            transaction.work.finish(claim, due_at, 0)
            transaction.commit()

    def _hand_back(self, claim: Claim, attempts: int) -> None:
        """Make a claim free again, to be looked at soon; one that cannot be is taken over in seconds."""
        pause = timedelta(0)
        if attempts > claim.attempts:
            pause = self._settings.backoff(attempts)
        try:
            with self._context.store.begin() as transaction:
                transaction.work.finish(claim, self._context.clock.now() + pause, attempts)
                transaction.commit()
        except BlazarError as error:
            _logger.info("the claim on %s is left to run out: %s", claim.key, error)

    def _renew(self) -> None:
        self._every(self._settings.claim_duration / 4, self.renew_claims)

    def _refresh(self) -> None:
        self._every(_REFRESH_INTERVAL, self.refresh_indexes)

    def _send(self) -> None:
        self._every(min(timedelta(seconds=1), self._settings.poll_interval), self.send_outbox)

    def _every(self, interval: timedelta, act: Callable[[], object]) -> None:
        while not self._stopping.is_set():
            try:
                act()
            except BlazarError as error:
                _logger.warning("%s", error)
                self._pulse.beat(error)
            except Exception as error:
                _logger.exception("a helper of the reconciler met an unexpected error and goes on")
                self._pulse.beat(error)
            else:
                self._pulse.beat()
            self._context.clock.wait(self._stopping, interval)


def _longest_silence(settings: ReconcilerSettings) -> timedelta:
    """Return how long a thread that is well may take to come round: many times what it waits, and works."""
    return max(30 * settings.poll_interval, 6 * settings.claim_duration)
