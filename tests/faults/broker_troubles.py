"""Faults in the nodes of a RabbitMQ cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from faults.troubles import Targets, Trouble, restart

from rig import rabbitmq_cluster

_SECONDS_TO_NOTICE: Final = 3
"""A node that is cut off for this long has been seen by all others, and has stopped serving clients."""


def kill_node(targets: Targets) -> None:
    """Kill a node, and start it again."""
    while targets.pause(2, 5):
        restart(targets.one_of(targets.installation.brokers), targets, lambda node: node.kill())


def pause_node(targets: Targets) -> None:
    """Pause a node, whose connections stay open, for up to twice the time after which it counts as down."""
    while targets.pause(2, 5):
        node = targets.one_of(targets.installation.brokers)
        node.pause()
        targets.pause(2, 2 * rabbitmq_cluster.TICK_SECONDS)
        node.resume()
        node.wait_until_answers()


def cut_off_node(targets: Targets) -> None:
    """Cut a node off from the others while clients can still connect to it, and reconnect it."""
    plan = targets.installation.plan
    while targets.pause(2, 5):
        node = targets.one_of(targets.installation.brokers)
        rabbitmq_cluster.cut_off(plan, node.name)
        targets.pause(_SECONDS_TO_NOTICE, 10)
        rabbitmq_cluster.reconnect(plan, node.name)
        node.wait_until_answers()


BROKER_TROUBLES: Final[Mapping[str, Trouble]] = {
    "broker-node-killed": kill_node,
    "broker-node-paused": pause_node,
    "broker-node-cut-off": cut_off_node,
}
"""The troubles by name; they require an installation with three nodes."""
