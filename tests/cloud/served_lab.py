"""The OpenStack adapters with the simulated cloud behind HTTP, as a lab for the contract suite.

The suite also shows that the API of ``rig.cloud`` is compatible with the adapters. So measurements and faults
on ``rig.cloud`` use the real adapters.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from clocks import ManualClock
from cloud.contract.lab import LabHost
from cloud.simulated_lab import SimulatedLab

from blazar import config
from blazar.cloud.openstack.driver import OpenStackCloud, make_cloud
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Lessee
from blazar.ports.identity import Trust
from blazar.ports.placement import Provider
from rig.cloud import ServedCloud
from rig.cloud.identity import token_of

if TYPE_CHECKING:
    from cloud.contract.lab import LabFactory

OPTIONS = """
[keystone]
auth_type = password
auth_url = {auth_url}
username = blazar
password = any
project_name = service
user_domain_name = Default
project_domain_name = Default
"""


class ServedLab:
    """The simulated lab with HTTP between the adapters and the cloud."""

    def __init__(self, behind: SimulatedLab, served: ServedCloud, options: str) -> None:
        self._behind = behind
        self.cloud: Cloud = make_openstack_cloud(OPTIONS.format(auth_url=served.auth_url) + options)
        self.hosts = behind.hosts
        self.similar_names = behind.similar_names
        self.network = behind.network
        self.storage = behind.storage
        self.segments = behind.segments
        self.project_ids = behind.project_ids
        self.lessee = Lessee(project_id=self.project_ids[0], token=token_of("lessee", self.project_ids[0]))

    def name(self, suffix: str) -> str:
        return self._behind.name(suffix)

    def boot_server(self, name: str, *, service_host: str | None = None, flavor_id: str | None = None) -> str:
        return self._behind.boot_server(name, service_host=service_host, flavor_id=flavor_id)

    def resize(self, server_id: str, flavor_id: str) -> None:
        self._behind.resize(server_id, flavor_id)

    def add_child(self, host: LabHost) -> Provider:
        return self._behind.add_child(host)

    def wait_until_gone(self, server_id: str) -> None:
        self._behind.wait_until_gone(server_id)

    def disable(self, service_host: str, reason: str = "") -> None:
        self._behind.disable(service_host, reason)

    def add_user(self, suffix: str, email: str | None) -> str:
        return self._behind.add_user(suffix, email)

    def make_trust(self) -> Trust:
        return self._behind.make_trust()

    def attach(self, floating_ip_id: str) -> None:
        self._behind.attach(floating_ip_id)

    def forward_port(self, floating_ip_id: str) -> str:
        return self._behind.forward_port(floating_ip_id)


def make_openstack_cloud(text: str) -> OpenStackCloud:
    """Return the adapters for a configuration with this text."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "blazar.conf"
        path.write_text(text)
        return make_cloud(config.make_conf([], "served", config_files=[str(path)]), ManualClock())


@contextmanager
def served_lab(options: str = "") -> Iterator[ServedLab]:
    """Factory of the lab; *options* are added to the configuration of the adapter."""
    behind = SimulatedLab()
    with ServedCloud(behind.cloud) as served:
        yield ServedLab(behind, served, options)


@contextmanager
def served_lab_with_uuids() -> Iterator[ServedLab]:
    """The same with UUIDs of hypervisors, and with pages."""
    with served_lab("[nova]\nnova_client_version = 2.87\n") as lab:
        yield lab


if TYPE_CHECKING:
    _: LabFactory = served_lab
