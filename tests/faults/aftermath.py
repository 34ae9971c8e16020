"""What processes have left in the database, in the cloud and at a listener, held against what must be.

It is looked at as the engine's own invariants look at a lab: so whatever holds there, where each step of one
manager is struck in turn, is asked here, too, of several that were struck at random.
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
from reconcile import invariants
from reconcile.lab import Lab
from reconcile.parts import Conditions
from faults.lessees import Promise

from blazar.cloud.simulated import SimulatedCloud
from blazar.db.store import SqlStore
from blazar.manager.clocks import SystemClock
from blazar.plugins.testing.clocks import ManualClock
from blazar.plugins.testing.faults import ScriptedStore, WatchedFaults
from blazar.plugins.testing.site import Sent, Site
from rig.cloud import CloudControl

SECONDS_TO_SETTLE = 240
"""Two sweeps are among them: what a request that was cut off made outside is removed by the second one."""
_SHORTEST_LOOK_SECONDS = 0.5
_LONGEST_PROBLEM = 300


class Heard(Protocol):
    """A listener."""

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """Return what has been heard, by lease and event type."""


class Aftermath(Lab):
    """A lab in which others work: there is nothing to be done in it, but everything to be seen."""

    def __init__(self, engine: sa.Engine, control: CloudControl, notices: Heard) -> None:
        Site.__init__(self, engine)
        self.conditions = Conditions()
        self.violations = []
        self.last_problem = ""
        """What was waited for at last, in words for who wonders why it takes so long."""
        self._control, self._notices = control, notices

    def look(self) -> None:
        """See what there is now."""
        state = self._control.state()
        self.clock = ManualClock(SystemClock().now())
        self.faults = WatchedFaults(lambda: None)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "cloud.json"
            path.write_text(json.dumps(state))
            self.cloud = SimulatedCloud(self.clock, state_file=path, faults=self.faults)
        self.store = ScriptedStore(SqlStore(self.engine, self.clock))
        self.sent = Sent()
        self.sent.counts = self._notices.counts
        self.host_names = [each["service_host"] for each in state["hypervisors"]]

    def check(self, promises: Iterable[Promise] = ()) -> None:
        """See what there is now, and raise AssertionError if it is not what must be."""
        self.look()
        invariants.check_settled(self)
        check_promises(self, promises)

    def wait_until_settled(self, promises: Iterable[Promise] = ()) -> float:
        """Return after how many seconds everything was as it must be. Raises AssertionError if it never was.

        Args:
            promises: What lessees were told.
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
    """Whatever a lessee was told has become true."""
    leases = {each.id: each for each in aftermath.leases()}
    for each in promises:
        found = leases.get(each.lease_id)  # type: ignore[call-overload]
        if each.is_deleted is None:
            continue
        assert (found is None) is each.is_deleted, f"lease {each.lease_id}: {found}, {each}"
        if found is not None and each.end is not None:
            assert found.end == each.end, f"lease {each.lease_id} ends at {found.end}, {each}"
