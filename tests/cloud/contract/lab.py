"""What the contract suite of the cloud ports needs around the cloud that it tests.

The suite runs against the simulated cloud, and against the OpenStack adapter with the simulated cloud behind
HTTP. To run it elsewhere, name factories in the environment, with blanks between them::

    BLAZAR_CLOUD_LAB=package.module:factory python -m pytest tests/cloud/contract

For a real OpenStack that is ``cloud.openstack_lab:openstack_lab``, with a cloudlab that is up.
The factory is called once per test, and returns a context manager that gives a :class:`CloudLab` and,
on leaving, removes whatever the test left behind: all that bears a name from :meth:`CloudLab.name`,
and the servers and floating IPs of the lab's projects.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from blazar.ports.cloud import Cloud
from blazar.ports.compute import Lessee
from blazar.ports.identity import Trust
from blazar.ports.placement import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class LabHost:
    """A compute node without servers, in no aggregate, up and enabled."""

    hypervisor_hostname: str
    service_host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabNetwork:
    """An external network with one IPv4 subnet."""

    network_id: str
    subnet_id: str
    free_addresses: tuple[str, ...]
    """At least three addresses of the subnet, outside its pools and not its gateway's."""
    outside_address: str
    """An address outside the subnet."""


class CloudLab(Protocol):
    """A cloud under test, and what a test must be able to do besides calling the ports."""

    @property
    def cloud(self) -> Cloud:
        """Return the adapter under test."""

    @property
    def hosts(self) -> tuple[LabHost, ...]:
        """Return at least two hosts, at most one hypervisor to a compute service."""

    @property
    def similar_names(self) -> tuple[str, str]:
        """Return the names of two hypervisors, the first of which is a part of the second."""

    @property
    def network(self) -> LabNetwork:
        """Return the external network."""

    @property
    def project_ids(self) -> tuple[str, str]:
        """Return two projects."""

    @property
    def lessee(self) -> Lessee:
        """Return a member of the first project."""

    def name(self, suffix: str) -> str:
        """Return a name with this end that nothing else in the cloud has."""

    def boot_server(self, name: str, *, service_host: str | None = None, flavor_id: str | None = None) -> str:
        """Return the id of a server of the first project that has come to run.

        It is on that host, if one is given, and of that flavor, or else of some public flavor.
        """

    def add_child(self, host: LabHost) -> Provider:
        """Return a new provider beneath that of a host."""

    def wait_until_gone(self, server_id: str) -> None:
        """Return when the deletion of the server, which was asked for, is over."""

    def disable(self, service_host: str, reason: str = "") -> None:
        """Keep new servers off a host until the end of the test, with a reason or none."""

    def make_trust(self) -> Trust:
        """Return a trust of the lessee's, for the user whose rights the adapter uses."""

    def attach(self, floating_ip_id: str) -> None:
        """Put a floating IP on a port."""


class LabFactory(Protocol):
    """Makes a lab for one test."""

    def __call__(self) -> AbstractContextManager[CloudLab]:
        """Return the context in which the lab exists."""
