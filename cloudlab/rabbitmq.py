"""RabbitMQ: a node of the lab's own, and the port mapper that Erlang needs."""

from __future__ import annotations

from typing import Final

from cloudlab import files, probes
from cloudlab.commands import plain_environment
from cloudlab.plan import Plan
from cloudlab.ports import ADDRESS
from cloudlab.service import Service

# Debian's rabbitmq-server in the search path switches to the account of the default instance.
_PROGRAM: Final = "/usr/lib/rabbitmq/bin/rabbitmq-server"


def configure(plan: Plan) -> None:
    """Write the node's configuration."""
    folder = plan.folder.etc("rabbitmq")
    options = {
        "listeners.tcp.default": plan.address("rabbitmq"),
        "default_user": "cloudlab",
        "default_pass": plan.passwords["rabbitmq"],
        "disk_free_limit.absolute": "50MB",
        "log.console": "true",
        "log.file": "false",
    }
    files.write(folder / "rabbitmq.conf", "".join(f"{name} = {value}\n" for name, value in options.items()))
    files.write(folder / "enabled_plugins", "[].\n")
    # Replaces the file in /etc that names the node of the default instance.
    files.write(folder / "rabbitmq-env.conf", "")


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the port mapper and the broker."""
    epmd = plan.ports["epmd"]
    return (
        Service(
            name="epmd",
            folder=plan.folder,
            command=("epmd", "-port", str(epmd), "-address", ADDRESS),
            environment=plain_environment(),
            check=lambda since: probes.listens(epmd),
        ),
        Service(
            name="rabbitmq",
            folder=plan.folder,
            command=(_PROGRAM,),
            environment=_environment(plan),
            check=lambda since: probes.serves_messages(plan),
        ),
    )


def _environment(plan: Plan) -> dict[str, str]:
    folder, data = plan.folder.etc("rabbitmq"), plan.folder.data("rabbitmq")
    environment = plain_environment(
        ERL_EPMD_ADDRESS=ADDRESS,
        ERL_EPMD_PORT=str(plan.ports["epmd"]),
        RABBITMQ_NODENAME="cloudlab@localhost",
        RABBITMQ_DIST_PORT=str(plan.ports["rabbitmq-distribution"]),
        RABBITMQ_CONF_ENV_FILE=str(folder / "rabbitmq-env.conf"),
        RABBITMQ_CONFIG_FILE=str(folder / "rabbitmq.conf"),
        RABBITMQ_ENABLED_PLUGINS_FILE=str(folder / "enabled_plugins"),
        RABBITMQ_MNESIA_BASE=str(data / "mnesia"),
        RABBITMQ_PID_FILE=str(data / "pid"),
        RABBITMQ_LOGS="-",
        # Some messages are logged to a file regardless of the configuration.
        RABBITMQ_LOG_BASE=str(data / "log"),
        ERL_CRASH_DUMP=str(data / "crash.dump"),
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}",
    )
    # The folder of Erlang's cookie.
    environment["HOME"] = str(data)
    return environment
