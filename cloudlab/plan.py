"""Choices made at the first start of a lab and kept: ports, passwords, hosts."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cloudlab import files, ports
from cloudlab.folder import Folder

DEFAULT_HOSTS: Final = ("node-1", "node-2", "node-3", "node-4", "node-5", "node-10")
"""One name is a prefix of another, so that tests detect a search for hosts by a part of their names."""
REGION: Final = "RegionOne"

_PORTS: Final = (
    "keystone",
    "placement",
    "glance",
    "nova-api",
    "neutron",
    "cinder",
    "blazar-api",
    "mariadb",
    "rabbitmq",
    "rabbitmq-distribution",
    "epmd",
)
_PASSWORDS: Final = (
    "mariadb",
    "rabbitmq",
    "admin",
    "lessee",
    "other",
    "placement",
    "glance",
    "nova",
    "neutron",
    "cinder",
    "blazar",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan of a lab, from which everything else is derived."""

    folder: Folder
    hosts: tuple[str, ...]
    """The names of the compute hosts."""
    ports: Mapping[str, int]
    passwords: Mapping[str, str]
    """Passwords of the users of the database server, the message broker and Keystone."""
    brokers: tuple[str, ...] = ("rabbitmq",)
    """The names of the nodes of the message broker."""

    def address(self, name: str) -> str:
        """Return ``host:port`` of a service."""
        return f"{ports.ADDRESS}:{self.ports[name]}"

    def url(self, name: str) -> str:
        """Return the URL of an API, without a path."""
        return f"http://{self.address(name)}"

    @property
    def auth_url(self) -> str:
        """Return the URL of Keystone."""
        return f"{self.url('keystone')}/v3"

    @property
    def transport_url(self) -> str:
        """Return the URL of the message broker, with all its nodes."""
        account = f"cloudlab:{self.passwords['rabbitmq']}"
        return f"rabbit://{','.join(f'{account}@{self.address(each)}' for each in self.brokers)}/"

    def database_url(self, database: str) -> str:
        """Return the URL of a database."""
        return f"mysql+pymysql://cloudlab:{self.passwords['mariadb']}@{self.address('mariadb')}/{database}"


def read(folder: Folder) -> Plan | None:
    """Return the plan of a lab, or None if there is no lab."""
    try:
        plan = json.loads(folder.plan.read_text())
    except FileNotFoundError:
        return None
    return _completed(
        Plan(folder=folder, hosts=tuple(plan["hosts"]), ports=plan["ports"], passwords=plan["passwords"])
    )


def _completed(plan: Plan) -> Plan:
    """Return a plan with ports and passwords for services that were added to the lab after it was made."""
    new_ports = [name for name in _PORTS if name not in plan.ports]
    new_passwords = [name for name in _PASSWORDS if name not in plan.passwords]
    return replace(
        plan,
        ports={**plan.ports, **(ports.choose(new_ports, plan.ports.values()) if new_ports else {})},
        passwords={**plan.passwords, **_passwords(new_passwords)},
    )


def _passwords(names: Iterable[str]) -> dict[str, str]:
    return {name: secrets.token_hex(16) for name in names}


def read_all(folder: Folder) -> list[Plan]:
    """Return the plans of the lab in a folder, and of the labs beside it."""
    return [plan for each in folder.labs() if (plan := read(each)) is not None]


def read_or_make_all(folder: Folder, count: int, hosts: Sequence[str] = ()) -> list[Plan]:
    """Return the plans of several labs that run side by side, like :func:`read_or_make`."""
    plans: list[Plan] = []
    for number in range(1, count + 1):
        taken = {port for plan in plans for port in plan.ports.values()}
        plans.append(read_or_make(folder.lab(number), hosts, taken))
    return plans


def read_or_make(folder: Folder, hosts: Sequence[str] = (), taken: Collection[int] = ()) -> Plan:
    """Return the plan of a lab, chosen now if there is none.

    Args:
        folder: The folder of the lab.
        hosts: Names of compute hosts; those that the lab does not have yet are added.
        taken: Ports that other labs have chosen.
    """
    plan = read(folder)
    if plan is None:
        plan = Plan(
            folder=folder,
            hosts=tuple(hosts) or DEFAULT_HOSTS,
            ports=ports.choose(_PORTS, taken),
            passwords=_passwords(_PASSWORDS),
        )
    else:
        plan = replace(plan, hosts=tuple(dict.fromkeys([*plan.hosts, *hosts])))
    written = {"hosts": plan.hosts, "ports": plan.ports, "passwords": plan.passwords}
    files.write(folder.plan, json.dumps(written, indent=2) + "\n")
    return plan
