"""Faults in the processes while lessees are at work."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from faults.gateway import Gateway

from blazar.cloud.simulated import Moment
from cloudlab.service import Service
from rig.cloud import CloudControl, Fault, FaultKind
from rig.installation import Installation

CLAIM_SECONDS = 10
"""The managers' default claim duration."""
CLIENT_TIMEOUT_SECONDS = 2
"""The timeout of the managers' cloud calls."""
SERVICES_OF_CLOUD = "[!i]*"
"""All services except identity."""


@dataclass(slots=True)
class Targets:
    """The targets of faults, their number, and the signal to stop."""

    installation: Installation
    cloud: CloudControl
    gateway: Gateway
    chance: random.Random
    is_over: threading.Event = field(default_factory=threading.Event)
    strikes: int = 0
    problems: list[str] = field(default_factory=list)
    """What must not have happened during the faults."""

    def pause(self, least: float, most: float) -> bool:
        """Wait for a random time; return whether to continue."""
        return not self.is_over.wait(self.chance.uniform(least, most))

    def victim(self) -> Service:
        """Return a random manager, and count a fault."""
        return self.one_of(self.installation.managers)

    def one_of(self, services: Sequence[Service]) -> Service:
        """Return a random one of some services, and count a fault."""
        self.strikes += 1
        return self.chance.choice(services)


Trouble = Callable[[Targets], None]


def kill_managers(targets: Targets) -> None:
    """Kill a manager every few seconds, and start it again."""
    while targets.pause(1, 3):
        victim = targets.victim()
        victim.kill()
        targets.pause(0, 1)
        victim.start()


def pause_managers(targets: Targets) -> None:
    """Pause a manager for longer than its claims last; it then continues as if nothing had happened."""
    while targets.pause(1, 3):
        victim = targets.victim()
        victim.pause()
        # Not shortened at the end of the run, so that the manager always outsleeps its claims.
        threading.Event().wait(CLAIM_SECONDS + targets.chance.uniform(1, 4))
        victim.resume()


def restart_managers(targets: Targets) -> None:
    """Restart all managers in turn, as in a rolling upgrade."""
    while targets.pause(0, 1):
        for each in targets.installation.managers:
            targets.strikes += 1
            each.stop()
            each.start()
            each.wait_until_answers()


def restart_broker(targets: Targets) -> None:
    """Stop the broker, or one of its nodes, and start it again."""
    while targets.pause(2, 4):
        restart(targets.one_of(targets.installation.brokers), targets, lambda broker: broker.stop())


def kill_database(targets: Targets) -> None:
    """Kill the database server, so that all connections break, and start it again."""
    while targets.pause(2, 5):
        restart(targets.one_of(targets.installation.databases), targets, lambda database: database.kill())


def restart(server: Service, targets: Targets, end: Callable[[Service], None]) -> None:
    """End a server with *end*, and start it again after a while; return when it responds."""
    end(server)
    targets.pause(0, 2)
    server.start()
    server.wait_until_answers()


def refuse_in_cloud(targets: Targets) -> None:
    """Let every fifth cloud call fail with 503 without an effect."""
    _trouble_cloud(targets, Fault(kind=FaultKind.STATUS, every=5, service=SERVICES_OF_CLOUD))


def lose_replies(targets: Targets) -> None:
    """Let every fifth cloud call lose its reply after taking effect, and cut every seventh one."""
    _trouble_cloud(
        targets,
        Fault(kind=FaultKind.LOSE_REPLY, every=5, service=SERVICES_OF_CLOUD),
        Fault(kind=FaultKind.CUT, every=7, service=SERVICES_OF_CLOUD),
    )


def answer_late(targets: Targets) -> None:
    """Delay every 25th cloud call beyond the client's timeout, before or after it takes effect."""
    late = CLIENT_TIMEOUT_SECONDS * 1.5
    _trouble_cloud(
        targets,
        *(
            Fault(kind=FaultKind.LATE, every=25, service=SERVICES_OF_CLOUD, delay_seconds=late, when=when)
            for when in Moment
        ),
    )


def _trouble_cloud(targets: Targets, *faults: Fault) -> None:
    targets.cloud.reset_figures()
    targets.cloud.set_faults(*faults)
    while targets.pause(0.5, 0.5):
        targets.strikes = targets.cloud.figures().faults.total()
    targets.cloud.set_faults()


def strike_nothing(targets: Targets) -> None:
    """Cause no faults while lessees work."""
    while targets.pause(0.5, 0.5):
        targets.strikes += 1


TROUBLES: Mapping[str, Trouble] = {
    "nothing": strike_nothing,
    "manager-killed": kill_managers,
    "manager-paused": pause_managers,
    "rolling-restart": restart_managers,
    "broker-restarted": restart_broker,
    "database-killed": kill_database,
    "cloud-503": refuse_in_cloud,
    "cloud-replies-lost": lose_replies,
    "cloud-late": answer_late,
}
"""The troubles by name."""
