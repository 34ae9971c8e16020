"""State of the database, the cloud and a listener after a run, checked against the invariants.

The invariants are those of the engine's tests, where each step of one manager is faulty in turn. Here,
they are checked for several managers with random faults.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import sqlalchemy as sa
from faults.lessees import Promise
from reconcile import invariants
from reconcile.parts import Conditions
from reconcile.reconciler_env import ReconcilerEnv

from blazar.cloud.simulated import SimulatedCloud
from blazar.db.store import SqlStore
from blazar.manager.clocks import SystemClock
from blazar.ports.clock import Clock
from blazar_plugin_testing.clocks import ManualClock
from blazar_plugin_testing.faults import ScriptedStore, WatchedFaults
from blazar_plugin_testing.service_env import Sent, ServiceEnv
from rig.cloud import CloudControl

SECONDS_TO_SETTLE = 240
"""Enough for two sweeps; the second one removes what an interrupted request has created in the cloud."""
_SHORTEST_LOOK_SECONDS = 0.5
_LONGEST_PROBLEM = 300


class Heard(Protocol):
    """A listener for notifications."""

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """Return the number of notifications received, by lease ID and event type."""


class Aftermath(ReconcilerEnv):
    """A read-only environment on an installation in which other processes work."""

    def __init__(
        self, engine: sa.Engine, control: CloudControl, notices: Heard, clock: Clock | None = None
    ) -> None:
        """Read nothing yet.

        Args:
            engine: The database of the installation.
            control: The cloud.
            notices: The listener for notifications.
            clock: The clock of the managers; None for that of the machine.
        """
        ServiceEnv.__init__(self, engine)
        self._managers_clock = clock or SystemClock()
        self.conditions = Conditions()
        self.violations = []
        self.last_problem = ""
        """The last failed check, as an explanation of a long wait."""
        self._control, self._notices = control, notices

    def look(self) -> None:
        """Read the current state."""
        state = self._control.state()
        self.clock = ManualClock(self._managers_clock.now())
        self.faults = WatchedFaults(lambda: None)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "cloud.json"
            path.write_text(json.dumps(state))
            self.cloud = SimulatedCloud(self.clock, state_file=path, faults=self.faults)
        self.store = ScriptedStore(SqlStore(self.engine, self.clock, {}))
        self.sent = Sent()
        self.sent.counts = self._notices.counts
        self.host_names = [each["service_host"] for each in state["hypervisors"]]

    def check(self, promises: Iterable[Promise] = ()) -> None:
        """Read the current state and check it. Raises AssertionError."""
        self.look()
        invariants.check_settled(self)
        check_promises(self, promises)

    def wait_until_settled(self, promises: Iterable[Promise] = ()) -> float:
        """Wait until all checks pass, and return the seconds that it took.

        Args:
            promises: The answers that lessees received.

        Raises:
            AssertionError: A check still fails after SECONDS_TO_SETTLE.
        """
        began = time.monotonic()
        while True:
            try:
                self.check(promises)
            except AssertionError as error:
                if time.monotonic() - began > SECONDS_TO_SETTLE:
                    raise
                self.last_problem = " ".join(str(error).split())[:_LONGEST_PROBLEM]
                time.sleep(_SHORTEST_LOOK_SECONDS)  # noqa: TID251 - other processes are waited for
            else:
                return time.monotonic() - began


def check_promises(aftermath: Aftermath, promises: Iterable[Promise]) -> None:
    """Check that every answer to a lessee has come true."""
    leases = {each.id: each for each in aftermath.leases()}
    named = {each.name: each.id for each in leases.values()}
    assert len(named) == len(leases), "two leases have the same name"
    for each in promises:
        found = leases.get(each.lease_id)  # type: ignore[call-overload]
        assert named.get(each.name, each.lease_id) == each.lease_id, f"{each} was created twice"
        if each.is_deleted is None:
            continue
        assert (found is None) is each.is_deleted, f"lease {each.lease_id}: {found}, {each}"
        if found is not None and each.end is not None:
            assert found.end == each.end, f"lease {each.lease_id} ends at {found.end}, {each}"
