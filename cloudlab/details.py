"""Details of a lab for tests: ``lab.json``."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cloudlab import contents, files, rest
from cloudlab.errors import LabError
from cloudlab.folder import Folder
from cloudlab.identity import LESSEES
from cloudlab.plan import REGION, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user of the domain Default, and the user's project."""

    user: str
    user_id: str
    password: str
    project: str
    project_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Endpoints, accounts and initial contents of a lab."""

    auth_url: str
    region: str
    urls: Mapping[str, str]
    """URLs of the APIs by service, without a path."""
    accounts: Mapping[str, Account]
    """``admin``, ``lessee``, ``other``, and the service's account ``blazar``."""
    hosts: tuple[str, ...]
    database_url: str
    """URL of the service's database."""
    transport_url: str
    image_id: str
    flavor_id: str
    """1 vCPU, 64 MiB, 1 GiB."""
    preemptible_flavor_id: str
    freepool: str
    freepool_id: int
    network_id: str
    """Id of the external network."""
    subnet_id: str
    python: str
    """The interpreter of the environment in which OpenStack is installed."""


def collect(plan: Plan) -> Details:
    """Return the details of a running lab."""
    network, subnet = contents.ensure_network(plan)
    projects = {"admin": "admin", "blazar": "service"} | {name: name for name in LESSEES}
    apis = ("keystone", "placement", "glance", "nova-api", "neutron", "cinder", "blazar-api")
    return Details(
        auth_url=plan.auth_url,
        region=REGION,
        urls={name: plan.url(name) for name in apis},
        accounts={user: _account(plan, user, project) for user, project in projects.items()},
        hosts=plan.hosts,
        database_url=plan.database_url("blazar"),
        transport_url=plan.transport_url,
        image_id=contents.ensure_image(plan),
        flavor_id=contents.TINY_FLAVOR,
        preemptible_flavor_id=contents.PREEMPTIBLE_FLAVOR,
        freepool=contents.FREEPOOL,
        freepool_id=contents.ensure_freepool(plan),
        network_id=network,
        subnet_id=subnet,
        python=plan.folder.program("python"),
    )


def write(folder: Folder, details: Details) -> None:
    """Write the details for tests."""
    files.write(folder.details, json.dumps(dataclasses.asdict(details), indent=2) + "\n")


def read(folder: Folder) -> Details:
    """Return the details of a lab.

    Raises:
        LabError: The lab has never been up.
    """
    try:
        kept: dict[str, Any] = json.loads(folder.details.read_text())
    except FileNotFoundError:
        raise LabError(f"there is no lab in {folder.root}: make cloud") from None
    kept["accounts"] = {name: Account(**each) for name, each in kept["accounts"].items()}
    kept["hosts"] = tuple(kept["hosts"])
    return Details(**kept)


def _account(plan: Plan, user: str, project: str) -> Account:
    password = plan.passwords[user]
    session = rest.make_session(plan.auth_url, user, password, project)
    return Account(
        user=user,
        user_id=str(session.get_user_id()),
        password=password,
        project=project,
        project_id=str(session.get_project_id()),
    )
