"""The manager processes of a simulation: which one starts due work; which are killed, paused, replaced."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from simulation.processes import Broker, Process, TurnStore
from simulation.scheduler import AT_ONCE, NEVER, SkewedClock, Task

from blazar.booking.context import Context, Plugin
from blazar.cloud.simulated.faults import SimulatedCrash
from blazar.db.store import SqlStore
from blazar.domain.errors import BlazarError
from blazar.manager.build import make_indexes
from blazar.manager.collections import COLLECTIONS
from blazar.manager.service import ManagerService
from blazar.plugins.flavors.plugin import Flavors
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.instances.plugin import Instances
from blazar.ports.store import Store
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar_plugin_testing.service_env import Silent

if TYPE_CHECKING:
    from simulation.simulation_env import SimulationEnv

_DUE = """
SELECT min(at) FROM (
    SELECT min(due_at) AS at FROM work WHERE claim_deadline IS NULL
    UNION ALL SELECT min(claim_deadline) FROM work
    UNION ALL SELECT min(due_at) FROM outbox WHERE failed_at IS NULL)
"""
_CROWDED = 0.25
"""The likelihood that a process sees more due work than its workers can do."""
Sabotage = Callable[[Store], Store]
"""Wraps the service's store with a bug."""


class Crew:
    """The live processes and their threads."""

    def __init__(self, env: SimulationEnv, sabotage: Sabotage | None) -> None:
        self._env = env
        self._sabotage = sabotage
        self._inside: dict[Task, Process] = {}
        self._due_at = NEVER
        self._not_before = AT_ONCE
        self._disasters = 0
        self._begun = 0
        self.processes: list[Process] = []

    def start(self) -> Process:
        """Start a new process with no state, and return it."""
        env, plan = self._env, self._env.plan
        self._begun += 1
        name = f"manager-{self._begun}"
        clock = SkewedClock(env.clock, env.chance.uniform(-1, 1) * plan.skew)
        plugins = self._plugins()
        env.codecs.update(plugins)
        store: Store = TurnStore(SqlStore(env.engine, clock, plugins), env)
        if self._sabotage is not None:
            store = self._sabotage(store)
        chance = random.Random(env.chance.getrandbits(64))
        context = Context(
            store=store,
            clock=clock,
            cloud=env.cloud,
            plugins=plugins,
            # Searches hold a real lock inside their process, so no task may pause while holding it.
            indexes=make_indexes(SqlStore(env.engine, clock, plugins), clock, plugins),
            collections=COLLECTIONS,
            settings=env.settings,
            waker=Silent(),
            random=chance,
            new_id=lambda: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        )
        sender = OutboxSender(store, clock, Broker(env.sent, env), {})
        process = Process(
            name=name,
            clock=clock,
            context=context,
            service=ManagerService(context),
            reconciler=Reconciler(context, name, sender, threading.Event()),
        )
        self.processes.append(process)
        return process

    def _plugins(self) -> Mapping[str, Plugin]:
        """Return plugins without real locks around cloud calls, during which other tasks run."""
        settings = self._env.settings.of(HostSettings)
        slots: Mapping[str, Plugin] = {
            "virtual:instance": Instances(settings, nullcontext),
            "flavor:instance": Flavors(settings, nullcontext),
        }
        return {**self._env.make_plugins(), **slots}

    def some(self) -> Process:
        """Return a random process, as a message bus would choose one."""
        return self._env.chance.choice(self.processes)

    def present(self) -> Process | None:
        """Return the process of the current task, None if it has no process."""
        return self._inside.get(self._env.scheduler.current)

    @contextmanager
    def inside(self, process: Process) -> Iterator[None]:
        """Run the current task in a process until it ends or is killed with the process."""
        task = self._env.scheduler.current
        process.tasks.append(task)
        self._inside[task] = process
        task.not_before = process.paused_until
        try:
            yield
        finally:
            process.tasks.remove(task)
            del self._inside[task]
            task.not_before = AT_ONCE

    # Disasters.

    def strike(self, process: Process) -> None:
        """Let a process be killed or paused, or its clock jump, with the weather's likelihood."""
        env, weather = self._env, self._env.weather
        if env.happens(weather.clock_jumps):
            process.clock.offset = env.seconds(-20, 20)
            env.note(f"the clock of {process.name} is wrong by {process.clock.offset.total_seconds():.1f} s")
        if process.is_dead or self._disasters >= env.plan.disasters:
            return
        for likelihood, happen in ((weather.killed, self._kill), (weather.stalled, self._pause)):
            if env.happens(likelihood):
                self._disasters += 1
                happen(process)
                return

    def _kill(self, process: Process) -> None:
        self._env.note(f"{process.name} is killed")
        process.is_dead = True
        self.processes.remove(process)
        for each in process.tasks:
            each.not_before = each.wake_at = AT_ONCE
        successor = self.start()
        self._env.spawn(f"{successor.name} begins", lambda: self._begin(successor))

    def _begin(self, process: Process) -> None:
        try:
            with self.inside(process):
                process.reconciler.plan_periodic_tasks()
        except (BlazarError, SimulatedCrash) as error:
            self._env.note(f"does not get far: {error}")

    def _pause(self, process: Process) -> None:
        """Pause a process for longer than its claims last; it then continues as if nothing had happened."""
        process.paused_until = self._env.clock.now() + self._env.seconds(11, 90)
        self._env.note(f"{process.name} is paused until {self._env.say(process.paused_until)}")
        for each in process.tasks:
            each.not_before = process.paused_until
            each.wake_at = max(each.wake_at, each.not_before)

    # Work.

    def look(self) -> None:
        """Read when work is next due."""
        ((due,),) = self._env.database.look(_DUE)
        self._due_at = NEVER if due is None else datetime.fromisoformat(f"{due}+00:00")

    @property
    def is_busy(self) -> bool:
        """Return whether a task is running or work is due."""
        self.look()
        return len(self._env.scheduler.tasks) > 1 or self._due_at <= self._env.clock.now()

    @property
    def next_start(self) -> datetime:
        """Return when the next worker is to start."""
        return max(self._due_at, self._not_before)

    def begin_work(self) -> None:
        """Start a worker in one of the processes whose clocks say that work is due."""
        env, now = self._env, self._env.clock.now()
        workers = env.plan.workers
        awake = [
            each
            for each in self.processes
            if each.busy < workers and each.paused_until <= now and each.clock.now() >= self._due_at
        ]
        if not awake:
            self._not_before = now + timedelta(seconds=1)
            return
        process = env.chance.choice(awake)
        # Sometimes several workers compete for the same work.
        self._not_before = now + (env.seconds(0, 0.5) if env.happens(0.2) else env.seconds(1, 4))
        process.busy += 1
        env.spawn(f"{process.name}/{process.busy}", lambda: self._work(process))
        if not process.is_renewing:
            process.is_renewing = True
            env.spawn(f"{process.name}/renew", lambda: self._renew(process))

    def _work(self, process: Process) -> None:
        try:
            with self.inside(process):
                if self._env.happens(_CROWDED):
                    process.reconciler.mark_due_leases()
                process.reconciler.run_due(self._env.chance.randint(1, 2))
        except (BlazarError, SimulatedCrash) as error:
            self._env.note(f"ends: {error}")
        finally:
            process.busy -= 1

    def _renew(self, process: Process) -> None:
        """Renew claims while a worker is busy, as a separate thread does in operation."""
        interval = process.context.settings.reconciler.claim_duration / 4
        try:
            with self.inside(process):
                while process.busy and not process.is_dead:
                    self._env.scheduler.pause(interval)
                    self._renew_once(process)
        except SimulatedCrash as error:
            self._env.note(f"ends: {error}")
        finally:
            process.is_renewing = False

    def _renew_once(self, process: Process) -> None:
        if not process.busy or process.is_dead:
            return
        try:
            process.reconciler.renew_claims()
        except BlazarError as error:
            self._env.note(f"claims are not renewed: {error}")
