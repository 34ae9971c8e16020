"""A cloud, a database and several managers whose threads take turns, and all faults that may affect them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa
from reconcile import floatingips
from reconcile.invariants import FREEPOOL, check_nothing_twice, check_one_lessee, read_allocations
from reconcile.parts import TRAITS
from reconcile.simulated_env import SimulatedEnv
from reconcile.slots import BIGGER_SOURCE, SOURCE
from simulation.crew import Crew, Sabotage
from simulation.database import Database
from simulation.plans import Plan
from simulation.processes import TurnStore
from simulation.scheduler import Scheduler, TurnClock, WriteLock
from simulation.weather import CALM, Weather, draw_call_fault, draw_commit_fault

from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.faults import FaultRule, SimulatedCrash
from blazar.db import tables
from blazar.db.store import SqlStore
from blazar.plugins.floatingips.settings import FloatingIPSettings
from blazar.plugins.hosts.settings import HostSettings, MonitorSettings
from blazar.settings import ReconcilerSettings, Settings
from blazar_plugin_testing.clocks import EPOCH
from blazar_plugin_testing.faults import CommitFault, WatchedFaults
from blazar_plugin_testing.service_env import LESSEE, ManagerProcess, Sent

if TYPE_CHECKING:
    from simulation.processes import Surroundings

_LOCK_PATIENCE = timedelta(seconds=30)
"""The same as in blazar.db.engine."""
_BOOKED = "SELECT id, resource_id, start_at, end_at, released_at, slots FROM allocations"
_HOUR = timedelta(hours=1)


class Faults(WatchedFaults):
    """The weather's faults of cloud calls; other tasks run before each call."""

    def __init__(self, env: SimulationEnv) -> None:
        super().__init__(env.look)
        self._env = env

    def decide(self, operation: str) -> FaultRule | None:
        """Return the fault of a call, None if there is none."""
        if self._is_exempt or self._env.scheduler.is_outside:
            return None
        self._env.step(operation)
        with self.exempt():
            self._look()
        return self._env.call_fault()


class SimulationEnv(SimulatedEnv):
    """The whole simulation of a seed at its beginning; :meth:`go_on` advances the time."""

    clock: TurnClock

    def __init__(self, database: Database, plan: Plan, sabotage: Sabotage | None = None) -> None:
        """Start on a database that has no other user; *sabotage* adds a bug to the service."""
        super().__init__(database.engine)
        self.database, self.plan, self.conditions = database, plan, plan.conditions
        self.chance = random.Random(plan.seed)
        self.weather: Weather = CALM
        self.events: list[str] = []
        self.violations = []
        self._booked: object = None
        self.clock = TurnClock(EPOCH)
        self.scheduler = self.clock.scheduler = Scheduler(self.clock)
        self.lock = WriteLock(self.scheduler, _LOCK_PATIENCE)
        self.faults = Faults(self)
        self.sent = Sent()
        self.cloud = SimulatedCloud(
            self.clock, server_deletion_time=self.conditions.server_deletion_time, faults=self.faults
        )
        self.codecs = {}
        self.store = TurnStore(SqlStore(self.engine, self.clock, self.codecs), self)
        self.crew = Crew(self, sabotage)
        self._set_up()

    def _set_up(self) -> None:
        self.database.reset()
        self.cloud.add_aggregate(FREEPOOL)
        for flavor in (SOURCE, BIGGER_SOURCE):
            self.cloud.flavors.create_flavor(flavor)
        first, *_ = [self.crew.start() for _ in range(self.plan.processes)]
        self.manager = ManagerProcess(
            name=first.name, context=first.context, service=first.service, reconciler=first.reconciler
        )
        self.host_names = [f"host-{number}" for number in range(1, self.conditions.hosts + 1)]
        for name in self.host_names:
            self.cloud.add_hypervisor(name, traits=TRAITS)
            first.service.create_host(LESSEE, {"name": name})
        floatingips.register(self)
        first.reconciler.plan_periodic_tasks()

    @property
    def settings(self) -> Settings:
        return replace(
            self.conditions.settings,
            reconciler=ReconcilerSettings(
                sweep_interval=self.plan.sweep_interval,
                discovery_interval=timedelta(0),
                maintenance_check_interval=_HOUR,
            ),
        ).with_own(
            replace(self.conditions.settings.of(HostSettings), refresh_interval=3 * _HOUR),
            MonitorSettings(is_polling=True, polling_interval=_HOUR),
            FloatingIPSettings(check_interval=2 * _HOUR),
        )

    # The interface for processes; see processes.Surroundings.

    def step(self, what: str) -> None:
        """Let other tasks run; a process may be killed or paused here. Raises SimulatedCrash."""
        if self.scheduler.is_outside:
            return
        self.note(what)
        process = self.crew.present()
        if process is not None:
            self.crew.strike(process)
        if process is None or not process.is_dead:
            self.scheduler.pause(self._latency())
        if process is not None and process.is_dead:
            raise SimulatedCrash(what)

    def has_connection(self) -> bool:
        """Return whether the database accepts a new transaction."""
        return self.scheduler.is_outside or not self.happens(self.weather.no_connection)

    def commit_fault(self) -> CommitFault | None:
        """Return the fault of a commit, None if there is none."""
        fault = None if self.scheduler.is_outside else draw_commit_fault(self.weather, self.chance)
        if fault is not None:
            self.note("the commit is lost" if fault.is_lost else "the commit is made, but not confirmed")
        return fault

    def committed(self) -> None:
        """Update the time of the next due work, and check the allocations if they have changed."""
        self.crew.look()
        self.scheduler.main.wake_at = min(self.scheduler.main.wake_at, self.crew.next_start)
        booked = self.database.look(_BOOKED)
        if booked != self._booked:
            self._booked = booked
            self._check_books()

    def broker_refuses(self) -> bool:
        """Return whether a notification is refused, or its delivery is not confirmed."""
        return self.happens(self.weather.broker_refuses / 2)

    def call_fault(self) -> FaultRule | None:
        """Return the fault of a cloud call, None if there is none."""
        fault = draw_call_fault(self.weather, self.chance)
        if fault is not None:
            self.note(f"goes wrong: {fault.kind}")
        return fault

    # Invariants that hold at all times.

    def look(self) -> None:
        """Record violations of invariants of the cloud."""
        if self.lock.is_held_by(self.scheduler.current):
            self._violated("the cloud is called inside of a transaction")
        aggregates = self.cloud.aggregates.list_aggregates()
        self._check(lambda: check_one_lessee(aggregates))
        placed: set[str] = set()
        for each in aggregates:
            if each.name == FREEPOOL or (each.availability_zone or "").startswith("blazar_"):
                placed |= each.hosts
        lost = [name for name in self.plan.steady_hosts if name not in placed]
        # If the cloud wrongly reports an object as missing, the service believes it until the next sweep.
        if lost and not self.plan.weather.not_found:
            self._violated(f"{', '.join(lost)} in no pool")

    def _check_books(self) -> None:
        with self.engine.connect() as connection:
            allocations = read_allocations(connection)
            hosts = list(connection.execute(sa.select(tables.hosts)))
        self._check(lambda: check_nothing_twice(allocations, hosts, self.conditions.cleaning_time))

    def _check(self, check: Callable[[], None]) -> None:
        # An exception here would be handled by the service like any other error.
        try:
            check()
        except AssertionError as error:
            self._violated(str(error))

    def _violated(self, what: str) -> None:
        if what not in self.violations:
            self.note(f"VIOLATION: {what}")
            self.violations.append(what)

    # Time.

    def go_on(self, end: datetime) -> None:
        """Advance the time to *end* while workers do what is due. Raises AssertionError after a violation."""
        while self.clock.now() < end and not self.violations:
            self.scheduler.pause_until(min(end, self.crew.next_start))
            if self.scheduler.failure is not None:
                raise self.scheduler.failure
            if self.clock.now() >= self.crew.next_start:
                self.crew.begin_work()
        assert not self.violations, self.violations

    def spawn(self, name: str, act: Callable[[], None]) -> None:
        """Run *act* in a new thread, soon."""
        self.scheduler.spawn(name, act, self.clock.now() + self._latency())

    # Random decisions, and the record of events.

    def happens(self, likelihood: float) -> bool:
        """Return True with this likelihood."""
        return likelihood > 0 and self.chance.random() < likelihood

    def seconds(self, low: float, high: float) -> timedelta:
        """Return a random duration between two numbers of seconds."""
        return timedelta(seconds=self.chance.uniform(low, high))

    def _latency(self) -> timedelta:
        if self.happens(self.weather.sluggish):
            return self.seconds(1, 12)
        luck = self.chance.random()
        return self.seconds(0, 0.02 if luck < 0.7 else 0.5 if luck < 0.95 else 3)

    def note(self, what: str) -> None:
        """Record an event."""
        self.events.append(f"{self.say(self.clock.now())} {self.scheduler.current.name}: {what}")

    def say(self, instant: datetime) -> str:
        """Return the time since the beginning."""
        return str(instant - EPOCH)

    @property
    def trace(self) -> str:
        """Return a hash that identifies the course of this run."""
        return hashlib.sha256("\n".join(self.events).encode()).hexdigest()


if TYPE_CHECKING:

    def _witness(env: SimulationEnv) -> Surroundings:
        return env
