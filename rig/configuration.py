"""The blazar.conf of a stack."""

from __future__ import annotations

from typing import Final

from cloudlab import blazar, files, sections
from cloudlab.files import Sections
from cloudlab.plan import REGION, Plan
from rig.wanted import Wanted, merged

AUTH_PATH: Final = "/identity/v3"
"""Below which the simulated OpenStack is Keystone."""
_NO_OPENSTACK: Final[Sections] = {"manager": {"cloud": "simulated"}}
_RPC_RESPONSE_SECONDS: Final = 60


def write(plan: Plan, wanted: Wanted, database_url: str) -> None:
    """Write it: as an operator would, beside where things are and whom everybody may be."""
    path = plan.folder.etc("blazar") / "blazar.conf"
    cloud = _openstack(plan) if wanted.hosts is not None else _NO_OPENSTACK
    files.write_ini(path, merged(merged(_sections(plan, database_url), cloud), wanted.options))


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
            # Whoever asks is believed to be who the headers say; a token is only for the cloud.
            "auth_strategy": "noauth",
        },
        "manager": {"rpc_topic": blazar.TOPIC},
        "database": {"connection": database_url, "max_retries": -1, "retry_interval": 1},
        **sections.message_bus(notifies=True),
    }


def _openstack(plan: Plan) -> Sections:
    credentials = {**sections.credentials(plan, "blazar"), "auth_url": auth_url(plan)}
    return {"manager": {"cloud": "openstack"}, "keystone": credentials}
