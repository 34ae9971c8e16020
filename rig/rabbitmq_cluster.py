"""RabbitMQ: three nodes on this machine that form a cluster, with queues replicated to all of them."""

from __future__ import annotations

import secrets
from typing import Final

from cloudlab import files, probes, rabbitmq
from cloudlab.commands import run
from cloudlab.files import Sections
from cloudlab.plan import Plan
from cloudlab.rabbitmq import Node
from cloudlab.service import Service

NODES: Final = ("rabbitmq-1", "rabbitmq-2", "rabbitmq-3")
PORTS: Final = ("epmd", *NODES, *(f"{node}-distribution" for node in NODES))
"""Names of the ports that a cluster needs."""
OPTIONS: Final[Sections] = {
    "oslo_messaging_rabbit": {
        "rabbit_quorum_queue": True,
        "rabbit_transient_quorum_queue": True,
        "rabbit_stream_fanout": True,
        "rabbit_qos_prefetch_count": 10,
        "heartbeat_timeout_threshold": 15,
    }
}
"""Options of blazar.conf for a cluster, as in the operators' guide."""
_CONTROL: Final = "/usr/lib/rabbitmq/bin/rabbitmqctl"
_HOME: Final = NODES[0]
TICK_SECONDS: Final = 15
"""Time after which the nodes count one that is silent as down."""
# Three nodes share this machine's cores: their schedulers sleep while there is nothing to do.
_ERLANG_OPTIONS: Final = f"-kernel net_ticktime {TICK_SECONDS} +sbwt none +sbwtdcpu none +sbwtdio none"


def configure(plan: Plan) -> None:
    """Write the configuration of all nodes, and the cookie that they share."""
    nodes = {
        f"cluster_formation.classic_config.nodes.{number}": _node(name).erlang
        for number, name in enumerate(NODES, start=1)
    }
    options = {
        **nodes,
        "cluster_formation.peer_discovery_backend": "classic_config",
        "cluster_partition_handling": "pause_minority",
    }
    cookie = plan.folder.data(_HOME) / ".erlang.cookie"
    files.write(cookie, secrets.token_hex(16))
    cookie.chmod(0o400)
    for name in NODES:
        rabbitmq.configure(plan, _node(name), options)


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the port mapper and the nodes."""
    return (rabbitmq.port_mapper(plan), *(_service(plan, name) for name in NODES))


def start(nodes: tuple[Service, ...]) -> None:
    """Start the cluster; return when all nodes respond."""
    first, *others = nodes
    first.start()
    # The others join the first one.
    first.wait_until_answers()
    for each in others:
        each.start()
    for each in others:
        each.wait_until_answers()


def cut_off(plan: Plan, name: str) -> None:
    """Cut the connections between a node and the others, and refuse new ones until :func:`reconnect`.

    The node shares no cookie with the others any more, so that neither side can connect to the other. Clients
    can still connect to it; it stops serving them because it is in the minority.
    """
    _evaluate(plan, name, "erlang:set_cookie(Each, cut_off), erlang:disconnect_node(Each)")


def reconnect(plan: Plan, name: str) -> None:
    """Let a node that was cut off connect to the others again."""
    _evaluate(plan, name, "erlang:set_cookie(Each, erlang:get_cookie()), net_kernel:connect_node(Each)")


def _evaluate(plan: Plan, name: str, expression: str) -> None:
    """Evaluate an expression of Erlang on a node, once for each other node *Each*."""
    others = ", ".join(f"'{_node(each).erlang}'" for each in NODES if each != name)
    run(
        [_CONTROL, "eval", f"[begin {expression} end || Each <- [{others}]]."],
        log=plan.folder.log("rabbitmqctl"),
        environment=rabbitmq.environment(plan, _node(name)),
    )


def _node(name: str) -> Node:
    return Node(service=name, erlang=f"{name}@localhost", home=_HOME, erlang_options=_ERLANG_OPTIONS)


def _service(plan: Plan, name: str) -> Service:
    return Service(
        name=name,
        folder=plan.folder,
        command=(rabbitmq.PROGRAM,),
        environment=rabbitmq.environment(plan, _node(name)),
        check=lambda since: probes.serves_messages(plan, name),
    )
