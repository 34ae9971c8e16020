"""The blazar.conf of an installation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from cloudlab import blazar, files, sections
from cloudlab.files import Sections
from cloudlab.plan import REGION, Plan
from rig import rabbitmq_cluster
from rig.wanted import Wanted, merged

AUTH_PATH: Final = "/identity/v3"
"""Path of the simulated OpenStack under which Keystone is served."""
_NO_OPENSTACK: Final[Sections] = {"manager": {"cloud": "simulated"}}
_RPC_RESPONSE_SECONDS: Final = 60


def write(plan: Plan, wanted: Wanted, database_url: str) -> None:
    """Write the configuration as an operator would: addresses, accounts and the given sections."""
    path = plan.folder.etc("blazar") / "blazar.conf"
    cloud = _openstack(plan) if wanted.hosts is not None else _NO_OPENSTACK
    broker = rabbitmq_cluster.OPTIONS if wanted.broker_nodes > 1 else {}
    ours = merged(merged(_sections(plan, database_url), cloud), broker)
    files.write_ini(path, merged(ours, wanted.options))


def own_files(plan: Plan, wanted: Wanted, managers: Sequence[str]) -> Mapping[str, Path]:
    """Return the extra configuration files of managers that use different database servers, by name."""
    if wanted.database != "galera":
        return {}
    return {name: plan.folder.etc("blazar") / f"{name}.conf" for name in managers}


def write_own_files(
    plan: Plan, wanted: Wanted, managers: Sequence[str], database_urls: Sequence[str]
) -> None:
    """Write these files: managers are assigned to the database servers in turn."""
    for number, path in enumerate(own_files(plan, wanted, managers).values()):
        url = database_urls[number % len(database_urls)]
        files.write_ini(path, {"database": {"connection": url}})


def auth_url(plan: Plan) -> str:
    """Return the URL of the simulated Keystone."""
    return f"{plan.url('cloud')}{AUTH_PATH}"


def _sections(plan: Plan, database_url: str) -> Sections:
    return {
        "DEFAULT": {
            **sections.LOGGING,
            "transport_url": plan.transport_url,
            "rpc_response_timeout": _RPC_RESPONSE_SECONDS,
            "os_region_name": REGION,
            # The API trusts the identity headers; a token is only needed for the cloud.
            "auth_strategy": "noauth",
        },
        "manager": {"rpc_topic": blazar.TOPIC},
        "database": {"connection": database_url, "max_retries": -1, "retry_interval": 1},
        **sections.message_bus(notifies=True),
    }


def _openstack(plan: Plan) -> Sections:
    credentials = {**sections.credentials(plan, "blazar"), "auth_url": auth_url(plan)}
    return {"manager": {"cloud": "openstack"}, "keystone": credentials}
