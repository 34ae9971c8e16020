"""The manager processes of a world: which one starts due work, and which are killed, paused and replaced."""

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
from blazar.manager.service import ManagerService
from blazar.plugins.flavors.plugin import Flavors
from blazar.plugins.instances.plugin import Instances
from blazar.ports.store import Store
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar_plugin_testing.service_env import Silent

if TYPE_CHECKING:
    from simulation.world import World

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

    def __init__(self, world: World, sabotage: Sabotage | None) -> None:
        self._world = world
        self._sabotage = sabotage
        self._inside: dict[Task, Process] = {}
        self._due_at = NEVER
        self._not_before = AT_ONCE
        self._disasters = 0
        self._begun = 0
        self.processes: list[Process] = []

    def start(self) -> Process:
        """Start a new process with no state, and return it."""
        world, plan = self._world, self._world.plan
        self._begun += 1
        name = f"manager-{self._begun}"
        clock = SkewedClock(world.clock, world.chance.uniform(-1, 1) * plan.skew)
        plugins = self._plugins()
        world.codecs.update(plugins)
        store: Store = TurnStore(SqlStore(world.engine, clock, plugins), world)
        if self._sabotage is not None:
            store = self._sabotage(store)
        chance = random.Random(world.chance.getrandbits(64))
        context = Context(
            store=store,
            clock=clock,
            cloud=world.cloud,
            plugins=plugins,
            # Searches hold a real lock inside their process, so no task may pause while holding it.
            indexes=make_indexes(SqlStore(world.engine, clock, plugins), clock, plugins),
            settings=world.settings,
            waker=Silent(),
            random=chance,
            new_id=lambda: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        )
        sender = OutboxSender(store, clock, Broker(world.sent, world), {})
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
        settings = self._world.settings.hosts
        slots: Mapping[str, Plugin] = {
            "virtual:instance": Instances(settings, nullcontext),
            "flavor:instance": Flavors(settings, nullcontext),
        }
        return {**self._world.make_plugins(), **slots}

    def some(self) -> Process:
        """Return a random process, as a message bus would choose one."""
        return self._world.chance.choice(self.processes)

    def present(self) -> Process | None:
        """Return the process of the current task, None if it has no process."""
        return self._inside.get(self._world.scheduler.current)

    @contextmanager
    def inside(self, process: Process) -> Iterator[None]:
        """Run the current task in a process until it ends or is killed with the process."""
        task = self._world.scheduler.current
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
        world, weather = self._world, self._world.weather
        if world.happens(weather.clock_jumps):
            process.clock.offset = world.seconds(-20, 20)
            world.note(
                f"the clock of {process.name} is wrong by {process.clock.offset.total_seconds():.1f} s"
            )
        if process.is_dead or self._disasters >= world.plan.disasters:
            return
        for likelihood, happen in ((weather.killed, self._kill), (weather.stalled, self._pause)):
            if world.happens(likelihood):
                self._disasters += 1
                happen(process)
                return

    def _kill(self, process: Process) -> None:
        self._world.note(f"{process.name} is killed")
        process.is_dead = True
        self.processes.remove(process)
        for each in process.tasks:
            each.not_before = each.wake_at = AT_ONCE
        successor = self.start()
        self._world.spawn(f"{successor.name} begins", lambda: self._begin(successor))

    def _begin(self, process: Process) -> None:
        try:
            with self.inside(process):
                process.reconciler.plan_chores()
        except (BlazarError, SimulatedCrash) as error:
            self._world.note(f"does not get far: {error}")

    def _pause(self, process: Process) -> None:
        """Pause a process for longer than its claims last; it then continues as if nothing had happened."""
        process.paused_until = self._world.clock.now() + self._world.seconds(11, 90)
        self._world.note(f"{process.name} is paused until {self._world.say(process.paused_until)}")
        for each in process.tasks:
            each.not_before = process.paused_until
            each.wake_at = max(each.wake_at, each.not_before)

    # Work.

    def look(self) -> None:
        """Read when work is next due."""
        ((due,),) = self._world.database.look(_DUE)
        self._due_at = NEVER if due is None else datetime.fromisoformat(f"{due}+00:00")

    @property
    def is_busy(self) -> bool:
        """Return whether a task is running or work is due."""
        self.look()
        return len(self._world.scheduler.tasks) > 1 or self._due_at <= self._world.clock.now()

    @property
    def next_start(self) -> datetime:
        """Return when the next worker is to start."""
        return max(self._due_at, self._not_before)

    def begin_work(self) -> None:
        """Start a worker in one of the processes whose clocks say that work is due."""
        world, now = self._world, self._world.clock.now()
        workers = world.plan.workers
        awake = [
            each
            for each in self.processes
            if each.busy < workers and each.paused_until <= now and each.clock.now() >= self._due_at
        ]
        if not awake:
            self._not_before = now + timedelta(seconds=1)
            return
        process = world.chance.choice(awake)
        # Sometimes several workers compete for the same work.
        self._not_before = now + (world.seconds(0, 0.5) if world.happens(0.2) else world.seconds(1, 4))
        process.busy += 1
        world.spawn(f"{process.name}/{process.busy}", lambda: self._work(process))
        if not process.is_renewing:
            process.is_renewing = True
            world.spawn(f"{process.name}/renew", lambda: self._renew(process))

    def _work(self, process: Process) -> None:
        try:
            with self.inside(process):
                if self._world.happens(_CROWDED):
                    process.reconciler.mark_due_leases()
                process.reconciler.run_due(self._world.chance.randint(1, 2))
        except (BlazarError, SimulatedCrash) as error:
            self._world.note(f"ends: {error}")
        finally:
            process.busy -= 1

    def _renew(self, process: Process) -> None:
        """Renew claims while a worker is busy, as a separate thread does in operation."""
        interval = process.context.settings.reconciler.claim_duration / 4
        try:
            with self.inside(process):
                while process.busy and not process.is_dead:
                    self._world.scheduler.pause(interval)
                    self._renew_once(process)
        except SimulatedCrash as error:
            self._world.note(f"ends: {error}")
        finally:
            process.is_renewing = False

    def _renew_once(self, process: Process) -> None:
        if not process.busy or process.is_dead:
            return
        try:
            process.reconciler.renew_claims()
        except BlazarError as error:
            self._world.note(f"claims are not renewed: {error}")
