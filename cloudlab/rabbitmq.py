"""RabbitMQ: a node of the lab's own, and the port mapper that Erlang needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cloudlab import files, probes
from cloudlab.commands import plain_environment
from cloudlab.plan import Plan
from cloudlab.ports import ADDRESS
from cloudlab.service import Service

# Debian's rabbitmq-server in the search path switches to the account of the default instance.
PROGRAM: Final = "/usr/lib/rabbitmq/bin/rabbitmq-server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The names of a node; its ports, data and configuration have the name of its service, too."""

    service: str = "rabbitmq"
    erlang: str = "cloudlab@localhost"
    home: str = "rabbitmq"
    """The data folder with Erlang's cookie, which all nodes of a cluster and their tools share."""
    erlang_options: str = ""


_ONLY: Final = Node()


def configure(plan: Plan, node: Node = _ONLY, more: Mapping[str, str] | None = None) -> None:
    """Write the configuration of a node.

    Args:
        plan: The plan.
        node: The node.
        more: Further options of ``rabbitmq.conf``.
    """
    folder = plan.folder.etc(node.service)
    options = {
        "listeners.tcp.default": plan.address(node.service),
        "default_user": "cloudlab",
        "default_pass": plan.passwords["rabbitmq"],
        "disk_free_limit.absolute": "50MB",
        "log.console": "true",
        "log.file": "false",
        **(more or {}),
    }
    files.write(folder / "rabbitmq.conf", "".join(f"{name} = {value}\n" for name, value in options.items()))
    files.write(folder / "enabled_plugins", "[].\n")
    # Replaces the file in /etc that names the node of the default instance.
    files.write(folder / "rabbitmq-env.conf", "")


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the port mapper and the broker."""
    return (
        port_mapper(plan),
        Service(
            name=_ONLY.service,
            folder=plan.folder,
            command=(PROGRAM,),
            environment=environment(plan, _ONLY),
            check=lambda since: probes.serves_messages(plan),
        ),
    )


def port_mapper(plan: Plan) -> Service:
    """Return the process with which Erlang's nodes find each other's ports."""
    epmd = plan.ports["epmd"]
    return Service(
        name="epmd",
        folder=plan.folder,
        command=("epmd", "-port", str(epmd), "-address", ADDRESS),
        environment=plain_environment(),
        check=lambda since: probes.listens(epmd),
    )


def environment(plan: Plan, node: Node) -> dict[str, str]:
    """Return the environment of a node and of the tools that administrate it."""
    folder, data = plan.folder.etc(node.service), plan.folder.data(node.service)
    variables = plain_environment(
        ERL_EPMD_ADDRESS=ADDRESS,
        ERL_EPMD_PORT=str(plan.ports["epmd"]),
        RABBITMQ_NODENAME=node.erlang,
        RABBITMQ_DIST_PORT=str(plan.ports[f"{node.service}-distribution"]),
        RABBITMQ_CONF_ENV_FILE=str(folder / "rabbitmq-env.conf"),
        RABBITMQ_CONFIG_FILE=str(folder / "rabbitmq.conf"),
        RABBITMQ_ENABLED_PLUGINS_FILE=str(folder / "enabled_plugins"),
        RABBITMQ_MNESIA_BASE=str(data / "mnesia"),
        RABBITMQ_PID_FILE=str(data / "pid"),
        RABBITMQ_LOGS="-",
        # Some messages are logged to a file regardless of the configuration.
        RABBITMQ_LOG_BASE=str(data / "log"),
        ERL_CRASH_DUMP=str(data / "crash.dump"),
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=(
            f"-kernel inet_dist_use_interface {{127,0,0,1}} {node.erlang_options}".strip()
        ),
    )
    variables["HOME"] = str(plan.folder.data(node.home))
    return variables
