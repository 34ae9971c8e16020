"""The plan of an installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from blazar.manager.clocks import FastClock
from cloudlab.files import Option, Sections
from cloudlab.wsgi import Workers
from rig.releases import Release

Database = Literal["mariadb", "postgresql", "galera"]
"""Galera is a cluster of three MariaDB servers, each of which accepts writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The parts of an installation and their settings."""

    database: Database = "mariadb"
    has_standby: bool = False
    """Whether PostgreSQL has a hot standby, with synchronous replication."""
    broker_nodes: Literal[1, 3] = 1
    """Number of nodes of RabbitMQ; three form a cluster with replicated queues."""
    managers: int = 2
    """On Galera, managers use the nodes in turn: the first uses the first node, and so on."""
    applier_threads: int = 4
    """Number of applier threads of each node of Galera (``wsrep_slave_threads``)."""
    api: Workers = field(default_factory=lambda: Workers(processes=2))
    apis: int = 1
    """Number of APIs, each at its own port, as behind a load balancer."""
    release: Release = "present"
    """The release that makes the schema, and whose managers and APIs are started first."""
    has_web_server: bool = False
    """Whether nginx is in front of the API, as in the operators' guide."""
    hosts: int | None = 4
    """Number of hosts of the simulated OpenStack; none is registered at first. If this is None, the
    installation has no OpenStack, and each manager has a cloud in its memory."""
    latency_ms: float = 0
    """Minimum duration of each call to the simulated OpenStack."""
    clock: FastClock | None = None
    """The clock of the managers (:mod:`rig.fast_manager`); None for that of the machine. The other processes
    have no need of it: only managers decide by the time."""
    options: Sections = field(default_factory=dict)
    """Sections of blazar.conf that extend or override the defaults of the rig."""


def merged(sections: Sections, more: Sections) -> Sections:
    """Return the sections with the options of both; those of *more* take precedence."""
    names = dict.fromkeys([*sections, *more])
    nothing: Mapping[str, Option] = {}
    return {name: {**sections.get(name, nothing), **more.get(name, nothing)} for name in names}
