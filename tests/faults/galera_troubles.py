"""Faults in the nodes of a Galera cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Final

from faults.client import Client, Said
from faults.troubles import Targets, Trouble, restart

from cloudlab.service import Service
from rig import galera

_SECONDS_TO_NOTICE: Final = 5
"""Time after which the nodes treat one that is silent as down (``evs.suspect_timeout``)."""
_TRANSFERS: Final = {"IST received": "IST", "SST received": "SST"}
"""Lines in the log of a node about how it got the changes that it had missed. With the first, the second one
only says that a node whose own data were nearly complete is ready."""


def pause_node(targets: Targets) -> None:
    """Pause a node, whose connections stay open, often for so long that the others continue without it."""
    while targets.pause(2, 5):
        node = targets.one_of(targets.installation.databases)
        node.pause()
        targets.pause(1, 4 * _SECONDS_TO_NOTICE)
        node.resume()
        node.wait_until_answers()


def cut_off_node(targets: Targets) -> None:
    """Cut a node off from the others while its manager can still connect to it, and reconnect it."""
    plan = targets.installation.plan
    while targets.pause(2, 5):
        node = targets.one_of(targets.installation.databases)
        galera.cut_off(plan, node.name)
        targets.pause(_SECONDS_TO_NOTICE, 3 * _SECONDS_TO_NOTICE)
        galera.reconnect(plan, node.name)
        node.wait_until_answers()


def restart_node(targets: Targets) -> None:
    """Stop a node, and start it again: it gets the changes that it has missed (IST)."""
    while targets.pause(2, 4):
        _rejoin(targets, lambda node: node.stop())


def replace_node(targets: Targets) -> None:
    """Kill a node and remove its data, and start it again: it gets all data (SST)."""

    def lose(node: Service) -> None:
        node.kill()
        galera.remove_data(targets.installation.plan, node.name)

    while targets.pause(2, 4):
        _rejoin(targets, lose)


def lose_quorum(targets: Targets) -> None:
    """Kill two nodes of three; let the third one continue alone after a while, and start the others again."""
    plan = targets.installation.plan
    while targets.pause(3, 5):
        remaining = targets.one_of(targets.installation.databases)
        lost = [each for each in targets.installation.databases if each is not remaining]
        for each in lost:
            each.kill()
        galera.wait_until_separated(plan, remaining.name)
        _check_that_nothing_is_confirmed(targets)
        galera.make_primary(plan, remaining.name)
        remaining.wait_until_answers()
        for each in lost:
            each.start()
            each.wait_until_answers()


def _check_that_nothing_is_confirmed(targets: Targets) -> None:
    """Check that requests get 503, and not an error of the service or a wrong answer."""
    with closing(Client(targets.gateway, "user")) as client:
        answer = client.ask("GET", "/leases")
        if answer.said is not Said.UNKNOWN:
            targets.problems.append(f"without a quorum, a request was answered: {answer}")


def _rejoin(targets: Targets, end: Callable[[Service], None]) -> None:
    node = targets.one_of(targets.installation.databases)
    log = targets.installation.log(node.name)
    known = log.stat().st_size
    restart(node, targets, end)
    with log.open("rb") as file:
        file.seek(known)
        lines = file.read().decode(errors="replace")
    kind = next((kind for line, kind in _TRANSFERS.items() if line in lines), "neither IST nor SST")
    print(f"{node.name} rejoined by {kind}", flush=True)


GALERA_TROUBLES: Final[Mapping[str, Trouble]] = {
    "database-node-paused": pause_node,
    "database-node-cut-off": cut_off_node,
    "database-node-restarted": restart_node,
    "database-node-replaced": replace_node,
    "quorum-lost": lose_quorum,
}
"""The troubles by name; they require a Galera cluster."""
