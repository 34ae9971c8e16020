"""Neutron without agents: networks and floating IPs are rows, and nothing is plugged anywhere.

It has the records of agents on the compute hosts, without which no server could have a port.
"""

from __future__ import annotations

import json
import shutil
import uuid
from typing import Final

from cloudlab import files, sections, sql
from cloudlab.commands import plain_environment, run
from cloudlab.plan import Plan
from cloudlab.service import Service
from cloudlab.wsgi import in_module, wsgi_service

FLAT_NETWORK = "outside"
"""The physical network that the external network is on."""

PHYSICAL_NETWORK = "physnet1"
"""The physical network whose VLANs can be reserved, outside the range that Neutron gives to everybody."""
SHARED_VLANS = (100, 110)
"""The first and the last VLAN of that range."""

_AGENT: Final = "Open vSwitch agent"
_ALWAYS_ALIVE: Final = "9999-01-01"
"""The time of the last report of an agent; an agent whose report is not old counts as alive."""


def configure(plan: Plan) -> None:
    """Write the configuration; the environment must be installed."""
    data, folder = plan.folder.data("neutron"), plan.folder.etc("neutron")
    files.write_ini(
        folder / "neutron.conf",
        {
            "DEFAULT": {
                **sections.LOGGING,
                "host": "controller",
                "transport_url": plan.transport_url,
                "state_path": str(data),
                "core_plugin": "ml2",
                "service_plugins": "router,trunk,network_segment_range,port_forwarding",
                "auth_strategy": "keystone",
                "notify_nova_on_port_status_changes": False,
                "notify_nova_on_port_data_changes": False,
            },
            "ml2": {
                "type_drivers": "local,flat,vlan,vxlan",
                "tenant_network_types": "local",
                # Without the first, no port could be a trunk's parent, or that of a server.
                "mechanism_drivers": "openvswitch,logger",
            },
            "ml2_type_vlan": {
                "network_vlan_ranges": "{}:{}:{}".format(PHYSICAL_NETWORK, *SHARED_VLANS),
            },
            "ml2_type_flat": {"flat_networks": FLAT_NETWORK},
            "oslo_concurrency": {"lock_path": str(data / "locks")},
            "quotas": {
                "quota_network": -1,
                "quota_subnet": -1,
                "quota_port": -1,
                "quota_router": -1,
                "quota_floatingip": -1,
            },
            **sections.database(plan, "neutron"),
            **sections.keystone_middleware(plan, "neutron"),
            **sections.message_bus(),
        },
    )
    shutil.copy(plan.folder.environment / "etc" / "neutron" / "api-paste.ini", folder)


def make_schema(plan: Plan, *, is_new: bool) -> None:
    """Bring the database up to date."""
    if is_new:
        sql.make_anew(plan, "neutron")
    run(
        [
            plan.folder.program("neutron-db-manage"),
            "--config-file",
            str(plan.folder.etc("neutron") / "neutron.conf"),
            "upgrade",
            "heads",
        ],
        log=plan.folder.log("neutron-db-manage"),
        environment=plain_environment(),
    )


def record_agents(plan: Plan) -> None:
    """Record an agent of Open vSwitch for each compute host, which Neutron treats as alive.

    Neutron binds the ports of servers only on hosts with such an agent, and Nova builds no server whose port
    is not bound. A real agent would report itself over the message bus.
    """
    bridges = {FLAT_NETWORK: "br-outside", PHYSICAL_NETWORK: "br-physnet1"}
    configuration = json.dumps({"bridge_mappings": bridges, "tunnel_types": ["vxlan"]})
    for host in plan.hosts:
        sql.execute(
            plan,
            "INSERT IGNORE INTO neutron.agents (id, agent_type, `binary`, topic, host, admin_state_up, "
            "created_at, started_at, heartbeat_timestamp, configurations) "
            "VALUES (%s, %s, 'none', 'N/A', %s, TRUE, UTC_TIMESTAMP(), UTC_TIMESTAMP(), %s, %s)",
            str(uuid.uuid4()),
            _AGENT,
            host,
            _ALWAYS_ALIVE,
            configuration,
        )


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the API."""
    environment = {
        "OS_NEUTRON_CONFIG_DIR": str(plan.folder.etc("neutron")),
        "OS_NEUTRON_CONFIG_FILES": "neutron.conf",
    }
    return (wsgi_service(plan, "neutron", in_module("neutron.wsgi.api"), environment),)
