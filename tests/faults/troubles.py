"""What strikes the processes while lessees are at work."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from blazar.cloud.simulated import Moment
from cloudlab.service import Service
from rig.cloud import CloudControl, Fault, FaultKind
from rig.stack import Stack

CLAIM_SECONDS = 10
"""The managers' own default."""
CLIENT_TIMEOUT_SECONDS = 2
"""Of the managers' calls to the cloud."""
SERVICES_OF_CLOUD = "[!i]*"
"""All but identity."""


@dataclass(slots=True)
class Scene:
    """Whom to strike, and when to stop."""

    stack: Stack
    cloud: CloudControl
    chance: random.Random
    is_over: threading.Event = field(default_factory=threading.Event)
    strikes: int = 0

    def pause(self, least: float, most: float) -> bool:
        """Wait for a while; return whether to go on."""
        return not self.is_over.wait(self.chance.uniform(least, most))

    def victim(self) -> Service:
        """Return one of the managers."""
        self.strikes += 1
        return self.chance.choice(self.stack.managers)

    def server(self, name: str) -> Service:
        """Return a server that all processes use."""
        self.strikes += 1
        return self.stack.service(name)


Trouble = Callable[[Scene], None]


def kill_managers(scene: Scene) -> None:
    """Kill a manager every few seconds, and start it again."""
    while scene.pause(1, 3):
        victim = scene.victim()
        victim.kill()
        scene.pause(0, 1)
        victim.start()


def pause_managers(scene: Scene) -> None:
    """Have a manager stand still for longer than its claims last, and go on as if nothing had happened."""
    while scene.pause(1, 3):
        victim = scene.victim()
        victim.pause()
        # Also at the end of the run, as a manager that slept sees it.
        threading.Event().wait(CLAIM_SECONDS + scene.chance.uniform(1, 4))
        victim.resume()


def restart_managers(scene: Scene) -> None:
    """Have each manager end, and begin again, in turn; a round for an upgrade."""
    while scene.pause(0, 1):
        for each in scene.stack.managers:
            scene.strikes += 1
            each.stop()
            each.start()
            each.wait_until_answers()


def restart_broker(scene: Scene) -> None:
    """Have the broker end, and begin again."""
    while scene.pause(2, 4):
        _restart(scene.server("rabbitmq"), scene, lambda broker: broker.stop())


def kill_database(scene: Scene) -> None:
    """Kill the database's server, so that all connections break, and start it again."""
    while scene.pause(2, 5):
        _restart(scene.server(scene.stack.wanted.database), scene, lambda database: database.kill())


def _restart(server: Service, scene: Scene, end: Callable[[Service], None]) -> None:
    end(server)
    scene.pause(0, 2)
    server.start()
    server.wait_until_answers()


def refuse_in_cloud(scene: Scene) -> None:
    """Have the cloud answer 503, and not do what was asked, at each fifth call."""
    _trouble_cloud(scene, Fault(kind=FaultKind.STATUS, every=5, service=SERVICES_OF_CLOUD))


def lose_replies(scene: Scene) -> None:
    """Have the cloud do what was asked, and cut the connection, at each fifth call; at others, not do it."""
    _trouble_cloud(
        scene,
        Fault(kind=FaultKind.LOSE_REPLY, every=5, service=SERVICES_OF_CLOUD),
        Fault(kind=FaultKind.CUT, every=7, service=SERVICES_OF_CLOUD),
    )


def answer_late(scene: Scene) -> None:
    """Have the cloud answer later than is waited for, or do later what was asked, at each 25th call."""
    late = CLIENT_TIMEOUT_SECONDS * 1.5
    _trouble_cloud(
        scene,
        *(
            Fault(kind=FaultKind.LATE, every=25, service=SERVICES_OF_CLOUD, delay_seconds=late, when=when)
            for when in Moment
        ),
    )


def _trouble_cloud(scene: Scene, *faults: Fault) -> None:
    scene.cloud.reset_figures()
    scene.cloud.set_faults(*faults)
    while scene.pause(0.5, 0.5):
        scene.strikes = scene.cloud.figures().faults.total()
    scene.cloud.set_faults()


TROUBLES: Mapping[str, Trouble] = {
    "manager-killed": kill_managers,
    "manager-paused": pause_managers,
    "rolling-restart": restart_managers,
    "broker-restarted": restart_broker,
    "database-killed": kill_database,
    "cloud-503": refuse_in_cloud,
    "cloud-replies-lost": lose_replies,
    "cloud-late": answer_late,
}
"""By name."""
