"""The reconciler of one manager: timers and wake-ups decide when it runs, claims decide what it works on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from blazar.booking.context import Context, PeriodicTask
from blazar.domain.errors import BlazarError, CloudError, ConcurrentUpdate, Unavailable
from blazar.ports import metrics
from blazar.ports.work import Claim
from blazar.reconcile.claims import ClaimKeeper, Interrupted
from blazar.reconcile.lease import reconcile_lease
from blazar.reconcile.liveness import Liveness
from blazar.reconcile.mark_in_progress import AT_ONCE, mark_due_leases
from blazar.reconcile.notices import NoticeSender
from blazar.reconcile.outbox import SENT_AT_ONCE, OutboxSender
from blazar.reconcile.periodic.tasks import periodic_tasks
from blazar.reconcile.workers import Workers
from blazar.settings import ReconcilerSettings

_SHORTEST_WAIT = timedelta(milliseconds=5)
_CONTENDED = timedelta(milliseconds=100)
_MARKING_INTERVAL = timedelta(milliseconds=250)
_COMPARISON_INTERVAL = timedelta(seconds=5)
_REFRESH_INTERVAL = timedelta(seconds=20)
_LONGEST_SENDING = timedelta(seconds=5)
"""Time after which the thread that delivers notices reports that it is alive."""
_FAILED = "failed"

_logger = logging.getLogger(__name__)


class Reconciler:
    """Processes due work; any number of reconcilers, in any number of processes, share the work."""

    def __init__(
        self,
        context: Context,
        name: str,
        sender: OutboxSender,
        wakeup: threading.Event,
        notices: NoticeSender | None = None,
    ) -> None:
        """Create a reconciler that is not started yet.

        Args:
            context: The context.
            name: The name recorded in its claims and journal entries; unique among all managers.
            sender: Sends the outbox.
            wakeup: Set when work was committed in this process.
            notices: Delivers notices; None if this manager delivers none.
        """
        self._context = context
        self._notices = notices or NoticeSender(context, {})
        self._settings = context.settings.reconciler
        self._sender = sender
        self._wakeup = wakeup
        self._keeper = ClaimKeeper(
            context.store, context.clock, name, self._settings.claim_duration, self._settings.step_limit
        )
        self._name = name
        self._periodic_tasks = periodic_tasks(context.settings, context.collections)
        self._stopping = threading.Event()
        self._workers = Workers(self._settings.workers, self._work, wakeup.set, context.meter)
        self._marked_at = datetime.min.replace(tzinfo=UTC)
        self._liveness = Liveness(context.clock, _longest_silence(self._settings))
        self._threads: list[threading.Thread] = []

    def run_due(self, limit: int = 1000) -> int:
        """Process the work that is due now, in the calling thread; return the number of passes.

        For tests and tools; a manager calls :meth:`start`.
        """
        passes = 0
        while passes < limit and not self._context.clock_guard.problems():
            claims = self._keeper.take(1)
            if not claims:
                break
            self._work(claims[0])
            passes += 1
        self._sender.send_due()
        self._notices.send_due()
        return passes

    def renew_claims(self) -> None:
        """Renew the claims whose steps meet their deadline. Managers call this periodically.

        Raises:
            ConcurrentUpdate, Unavailable: The database cannot store it now.
        """
        for claim in self._keeper.renew():
            _logger.error("step has exceeded its deadline; its claim is left to expire: key=%s", claim.key)
            self._context.meter.count(metrics.STEPS_OVERDUE)
            self._workers.note_hanging(claim)

    def mark_due_leases(self) -> int:
        """Mark unclaimed due leases as in progress; return their number."""
        return self._while_full(AT_ONCE, partial(mark_due_leases, self._context, self._name))

    def send_outbox(self) -> None:
        """Send all messages that are due, batch by batch. Managers call this every second.

        Raises:
            ConcurrentUpdate, Unavailable: The database cannot store it now.
        """
        self._while_full(SENT_AT_ONCE, self._sender.send_due)

    def send_notices(self) -> None:
        """Deliver due notices for some seconds. Managers call this every second.

        Raises:
            ConcurrentUpdate, Unavailable: The database cannot store it now.
        """
        end = self._context.clock.now() + _LONGEST_SENDING
        while not self._stopping.is_set() and self._notices.send_due() and self._context.clock.now() < end:
            pass

    def plan_periodic_tasks(self) -> None:
        """Schedule every periodic task now, as at the start of a manager. Raises ConcurrentUpdate."""
        keys = [key for key, task in self._periodic_tasks.items() if task.is_enabled]
        with self._context.store.begin() as transaction:
            transaction.work.schedule(keys, self._context.clock.now())
            transaction.commit()

    def start(self) -> None:
        """Start the threads of the reconciler and schedule the periodic tasks."""
        self._workers.start()
        for name, target in (
            ("dispatch", self._dispatch),
            ("renew-claims", self._renew),
            ("send-outbox", self._send),
            ("send-notices", self._send_notices),
            ("refresh-indexes", self._refresh),
            ("compare-clocks", self._compare),
        ):
            self._threads.append(threading.Thread(target=target, name=name, daemon=True))
        self._liveness.watch(self._threads)
        for thread in self._threads:
            thread.start()

    def refresh_indexes(self) -> None:
        """Read bookings made elsewhere. Called periodically, to keep the indexes of an idle manager fresh."""
        for index in self._context.indexes.values():
            index.refresh()

    def compare_clocks(self) -> None:
        """Compare this manager's clock with the database clock. Raises Unavailable."""
        self._context.clock_guard.compare(self._context.meter)

    def problems(self) -> tuple[str, ...]:
        """Return why the work does not progress, as text for operators; empty if it does. No I/O."""
        return (*self._context.clock_guard.problems(), *self._workers.problems(), *self._liveness.problems())

    def stop(self) -> None:
        """Interrupt all work before its next step, release the claims, and wait until this is done."""
        self._stopping.set()
        self._liveness.stop()
        self._keeper.stop()
        self._wakeup.set()
        # The dispatcher submits what it has claimed, and the workers release all of it.
        for thread in self._threads:
            thread.join()
        self._workers.stop()

    def hanging(self) -> int:
        """Return the number of workers whose step is past its deadline."""
        return self._workers.hanging()

    def is_lost(self) -> bool:
        """Return whether all workers hang for good, so that the process must be restarted."""
        return self._workers.are_lost()

    def _dispatch(self) -> None:
        self._repeat(self._plan, once=True)
        self._repeat(self._dispatch_due)

    def _repeat(self, act: Callable[[], timedelta], once: bool = False) -> None:
        """Call *act* until the reconciler stops; it returns the time to wait before the next call."""
        while not self._stopping.is_set():
            try:
                pause = act()
            except ConcurrentUpdate as error:
                pause = self._contended(error)
            except BlazarError as error:
                _logger.warning("the reconciler pauses: reason=%s", error)
                self._liveness.beat(error)
                pause = self._settings.poll_interval
            except Exception as error:
                _logger.exception("unexpected error in the reconciler; it continues")
                self._liveness.beat(error)
                pause = self._settings.poll_interval
            else:
                self._liveness.beat()
                if once:
                    return
            self._context.clock.wait(self._wakeup, pause)

    def _while_full(self, batch: int, act: Callable[[], int]) -> int:
        """Call *act* while it processes full batches, until the reconciler stops; return the total number."""
        total = 0
        while not self._stopping.is_set():
            number = act()
            total += number
            if number < batch:
                break
        return total

    def _plan(self) -> timedelta:
        self.plan_periodic_tasks()
        return timedelta(0)

    def _dispatch_due(self) -> timedelta:
        """Submit due work to the workers; return how long to wait before more can be submitted."""
        self._wakeup.clear()
        now = self._context.clock.now()
        with self._context.store.read() as transaction:
            due_at = transaction.work.next_due(now)
        wait = self._settings.poll_interval if due_at is None else due_at - now
        if wait > timedelta(0):
            return min(wait, self._settings.poll_interval)
        self.compare_clocks()  # work may seem due only because this manager's clock has jumped
        if self._context.clock_guard.problems():
            return self._settings.poll_interval
        free = self._workers.take_slots()
        claims: list[Claim] = []
        try:
            if free and not self._stopping.is_set():
                claims = self._keeper.take(free)
        except ConcurrentUpdate as error:
            return self._contended(error)
        finally:
            self._workers.free_slots(free - len(claims))
        wait = _SHORTEST_WAIT
        if len(claims) == free:
            wait = self._mark_waiting()
        for claim in claims:
            self._workers.submit(claim)
        return wait

    def _mark_waiting(self) -> timedelta:
        """Mark waiting work as in progress, at intervals; return how long to wait for a free worker."""
        now = self._context.clock.now()
        if timedelta(0) <= now - self._marked_at < _MARKING_INTERVAL:
            return _MARKING_INTERVAL
        self._marked_at = now
        self.mark_due_leases()
        return self._settings.poll_interval  # a worker that becomes free wakes the dispatcher

    def _work(self, claim: Claim) -> None:
        """Process one claim; in every case, it is released or left to expire."""
        task, meter = self._periodic_tasks.get(claim.key), self._context.meter
        with self._context.log_context.working_on(lease_id=None if task else claim.key):
            if claim.taken_from is not None:
                meter.count(metrics.TAKEOVERS)
                _logger.warning("claim taken over: key=%s silent_manager=%s", claim.key, claim.taken_from)
            begun = self._context.clock.now()
            outcome = self._try(claim, task)
            seconds = max(0.0, (self._context.clock.now() - begun).total_seconds())
        if task is None:
            meter.observe(metrics.PASS_SECONDS, seconds, outcome)
        else:
            meter.observe(metrics.PERIODIC_TASK_SECONDS, seconds, claim.key)
        if task is not None and outcome == _FAILED:
            meter.count(metrics.PERIODIC_TASK_FAILURES, claim.key)

    def _try(self, claim: Claim, task: PeriodicTask | None) -> str:
        """Return the outcome of processing a claim, in one word."""
        try:
            self._check(claim)
            if task is not None:
                self._run_task(claim, task)
            else:
                reconcile_lease(self._context, claim, self._name, lambda: self._check(claim))
        except Interrupted:
            self._hand_back(claim, claim.attempts)
            return "interrupted"
        except ConcurrentUpdate as error:
            _logger.debug("work is repeated: key=%s reason=%s", claim.key, error)
            self._context.doubt(error)
            self._hand_back(claim, claim.attempts)
            return "overtaken"
        except (CloudError, Unavailable) as error:
            _logger.warning("work is retried: key=%s reason=%s", claim.key, error)
            self._hand_back(claim, claim.attempts + 1)
            return _FAILED
        except Exception:
            _logger.exception("work failed and is retried: key=%s", claim.key)
            self._hand_back(claim, claim.attempts + 1)
            return _FAILED
        finally:
            self._keeper.forget(claim)
        return "done"

    def _check(self, claim: Claim) -> None:
        """Raise Interrupted if work on *claim* must end here."""
        if self._context.clock_guard.problems():
            raise Interrupted(claim.key)
        self._keeper.check(claim)

    def _run_task(self, claim: Claim, task: PeriodicTask) -> None:
        """Run a periodic task and schedule it again; drop a task that only another manager has enabled."""
        due_at = None
        if task.is_enabled:
            task.run(self._context, self._name, lambda: self._check(claim))
            due_at = self._context.clock.now() + task.interval if task.interval else None
        with self._context.store.begin() as transaction:
            transaction.work.finish(claim, due_at, 0)
            transaction.commit()

    def _hand_back(self, claim: Claim, attempts: int) -> None:
        """Release a claim and schedule its work soon; if this fails, the claim expires within seconds."""
        due_at = claim.due_at  # not the present time: this manager's clock may have become wrong meanwhile
        if attempts > claim.attempts:
            due_at = self._context.clock.now() + self._settings.backoff(attempts)
        try:
            with self._context.store.begin() as transaction:
                transaction.work.finish(claim, due_at, attempts)
                transaction.commit()
        except BlazarError as error:
            _logger.info("claim left to expire: key=%s reason=%s", claim.key, error)

    def _renew(self) -> None:
        self._every(self._settings.claim_duration / 4, self.renew_claims)

    def _refresh(self) -> None:
        self._every(_REFRESH_INTERVAL, self.refresh_indexes)

    def _compare(self) -> None:
        self._every(_COMPARISON_INTERVAL, self.compare_clocks)

    def _send(self) -> None:
        self._every(min(timedelta(seconds=1), self._settings.poll_interval), self.send_outbox)

    def _send_notices(self) -> None:
        self._every(min(timedelta(seconds=1), self._settings.poll_interval), self.send_notices)

    def _every(self, interval: timedelta, act: Callable[[], object]) -> None:
        while not self._stopping.is_set():
            pause = interval
            try:
                act()
            except ConcurrentUpdate as error:
                pause = min(interval, self._contended(error))
            except BlazarError as error:
                _logger.warning("a thread of the reconciler pauses: reason=%s", error)
                self._liveness.beat(error)
            except Exception as error:
                _logger.exception("unexpected error in a thread of the reconciler; it continues")
                self._liveness.beat(error)
            else:
                self._liveness.beat()
            self._context.clock.wait(self._stopping, pause)

    def _contended(self, error: ConcurrentUpdate) -> timedelta:
        """Return how long to wait after another manager was faster, which is not an error."""
        _logger.debug("retrying after a concurrent update: reason=%s", error)
        self._liveness.beat(error)
        return _CONTENDED * self._context.random.uniform(0.5, 1)


def _longest_silence(settings: ReconcilerSettings) -> timedelta:
    """Return how long a healthy thread may take for one round: many times its waits and its work."""
    return max(30 * settings.poll_interval, 6 * settings.claim_duration)
