"""The running cloudlab as a lab for the contract suite.

Every test has its own projects, and uses the hosts without servers that are in no aggregate.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar, cast

from clocks import ManualClock
from cloud.contract.lab import LabHost, LabNetwork
from cloud.noted_cloud import NotedCloud
from cloud.openstack_floating_ips import NeutronFloatingIps
from cloud.openstack_segments import NeutronSegments
from cloud.openstack_storage import CinderStorage
from cloud.waiting import wait_until
from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions import NotFound
from keystoneauth1.session import Session

from blazar import config
from blazar.cloud.openstack.driver import OpenStackCloud, make_cloud
from blazar.domain.errors import CloudNotFound
from blazar.ports.compute import Lessee
from blazar.ports.identity import Trust
from blazar.ports.placement import Provider
from cloudlab.details import Account
from cloudlab.lab import OpenStackLab
from cloudlab.rest import list_objects, make_adapter, make_session

if TYPE_CHECKING:
    from cloud.contract.lab import LabFactory

    from blazar.ports.cloud import Cloud

NEEDED_HOSTS = 2
PATIENCE_SECONDS = 60

OPTIONS = """
[keystone]
auth_type = password
auth_url = {auth_url}
username = {account.user}
password = {account.password}
project_name = {account.project}
user_domain_name = Default
project_domain_name = Default
"""


class ContractLab:
    """Two hosts and the external network of the cloudlab, and two new projects.

    Everything is made when a test first uses it, and only services that it has used are searched for what it
    left: most tests use one of them.
    """

    _bereft: ClassVar[set[str]] = set()
    """Hosts that lost a child provider. Nova's compute service reads its tree of providers every five
    minutes. If it read the tree with the child, it builds no server until it reads the tree again or is
    restarted."""

    def __init__(self, options: str) -> None:
        self._openstack = OpenStackLab.of_this_process()
        self._parents: set[str] = set()
        self._prefix = f"contract-{uuid.uuid4().hex[:8]}"
        self._disabled: list[str] = []
        self._user_ids: list[str] = []
        self._keystone = self._api("identity")
        self._admin = self._openstack.details.accounts["admin"]
        details = self._openstack.details
        self._adapter = cloud_of(details.auth_url, details.accounts["blazar"], options)
        self._noted = NotedCloud(self._adapter)
        self.similar_names = ("node-1", "node-10")

    @property
    def cloud(self) -> Cloud:
        return cast("Cloud", self._noted)

    @cached_property
    def hosts(self) -> tuple[LabHost, ...]:
        cloud = self._adapter
        taken = {host for each in cloud.aggregates.list_aggregates() for host in each.hosts}
        taken |= {each.service_host for each in cloud.servers.list_servers()}
        free = [each for each in self._openstack.details.hosts if each not in taken]
        assert len(free) >= NEEDED_HOSTS, f"the suite needs {NEEDED_HOSTS} hosts of its own; free are {free}"
        return tuple(LabHost(hypervisor_hostname=each, service_host=each) for each in free)

    @property
    def project_ids(self) -> tuple[str, str]:
        first, second = self._projects.values()
        return first, second

    @cached_property
    def _projects(self) -> Mapping[str, str]:
        """The ids of two new projects, by name."""
        made = {name: self._new_project(name) for name in (self.name("one"), self.name("two"))}
        self._grant(self._admin.user_id, made[self.name("one")], "admin")
        return made

    @cached_property
    def segments(self) -> NeutronSegments:
        return NeutronSegments(self._api("network"), self.project_ids)

    @cached_property
    def _floating_ips(self) -> NeutronFloatingIps:
        external = self._openstack.details.network_id
        return NeutronFloatingIps(self._api("network"), self.project_ids, external)

    @cached_property
    def storage(self) -> CinderStorage:
        return CinderStorage(self._api("block-storage"), self, self._prefix, self.project_ids)

    @property
    def network(self) -> LabNetwork:
        details = self._openstack.details
        return LabNetwork(
            network_id=details.network_id,
            subnet_id=details.subnet_id,
            free_addresses=("203.0.113.200", "203.0.113.201", "203.0.113.202"),
            outside_address="198.51.100.7",
        )

    @cached_property
    def lessee(self) -> Lessee:
        """A new member of the first project."""
        project_id, session = next(iter(self._lessee_sessions.items()))
        return Lessee(project_id=project_id, token=session.get_token())

    @cached_property
    def _lessee_sessions(self) -> Mapping[str, Session]:
        """The sessions of a new member of both projects."""
        name, password = self.name("lessee"), uuid.uuid4().hex
        body = {"user": {"name": name, "password": password, "domain_id": "default"}}
        user_id = self._add_user(body)
        sessions = {}
        for project, project_id in self._projects.items():
            self._grant(user_id, project_id, "member")
            auth_url = self._openstack.details.auth_url
            sessions[project_id] = make_session(auth_url, name, password, project)
        return sessions

    def member_api(self, project_id: str, service_type: str) -> Adapter:
        """Return the client of a member of a project."""
        return make_adapter(self._lessee_sessions[project_id], service_type)

    def serve(self, project_id: str) -> None:
        """Give the service's account the role of a member in a project."""
        self._grant(self._openstack.details.accounts["blazar"].user_id, project_id, "member")

    def attach_to_server(self, server_id: str, volume_id: str) -> None:
        """Request the attachment of a volume to a server."""
        body = {"volumeAttachment": {"volumeId": volume_id}}
        self._nova.post(f"/servers/{server_id}/os-volume_attachments", json=body)

    def boot_from(self, volume_id: str) -> str:
        """Return the id of an active server that was booted from a bootable volume."""
        disk = {"boot_index": 0, "source_type": "volume", "destination_type": "volume", "uuid": volume_id}
        return self._boot({"name": self.name("from-volume"), "block_device_mapping_v2": [disk]})

    def suspend(self, server_id: str) -> None:
        """Suspend a server."""
        self._nova.post(f"/servers/{server_id}/action", json={"suspend": None})
        wait_until(lambda: self._status(server_id) == "SUSPENDED", PATIENCE_SECONDS)

    def wait_until_active(self, server_id: str) -> None:
        """Return when a server is active."""
        wait_until(lambda: self._status(server_id) == "ACTIVE", PATIENCE_SECONDS)

    def name(self, suffix: str) -> str:
        return f"{self._prefix}-{suffix}"

    def boot_server(self, name: str, *, service_host: str | None = None, flavor_id: str | None = None) -> str:
        server = {"name": name, "imageRef": self._openstack.details.image_id}
        if flavor_id is not None:
            server["flavorRef"] = flavor_id
        self._have_children_forgotten()
        if service_host is not None:
            zone = self.cloud.hypervisors.list_availability_zones()[service_host]
            server["availability_zone"] = f"{zone}:{service_host}"
        return self._boot(server)

    def _boot(self, details: Mapping[str, object]) -> str:
        """Return the id of an active server with these details, by default of the ordinary flavor."""
        server = {"flavorRef": self._openstack.details.flavor_id, "networks": "none", **details}
        made = self._nova.post("/servers", json={"server": server}, microversion="2.37").json()
        server_id: str = made["server"]["id"]
        wait_until(lambda: self._status(server_id) not in ("BUILD", None), PATIENCE_SECONDS)
        status = self._status(server_id)
        assert status == "ACTIVE", f"server {server_id} is {status}, see the log of nova-scheduler"
        return server_id

    def resize(self, server_id: str, flavor_id: str) -> None:
        self._nova.post(f"/servers/{server_id}/action", json={"resize": {"flavorRef": flavor_id}})
        wait_until(lambda: self._status(server_id) == "VERIFY_RESIZE", PATIENCE_SECONDS)

    def add_child(self, host: LabHost) -> Provider:
        root = self.cloud.placement.find_provider(host.hypervisor_hostname)
        assert root is not None
        self._parents.add(host.service_host)
        return self.cloud.placement.create_provider(self.name("child"), root.uuid)

    def wait_until_gone(self, server_id: str) -> None:
        wait_until(lambda: self._status(server_id) is None, PATIENCE_SECONDS)

    def disable(self, service_host: str, reason: str = "") -> None:
        if reason:
            self._switch(service_host, "disable-log-reason", disabled_reason=reason)
        else:
            self._switch(service_host, "disable")
        self._disabled.append(service_host)

    def add_user(self, suffix: str, email: str | None) -> str:
        more = {} if email is None else {"email": email}
        body = {"user": {"name": self.name(suffix), "domain_id": "default", **more}}
        return self._add_user(body)

    def _add_user(self, body: Mapping[str, object]) -> str:
        user_id: str = self._keystone.post("/users", json=body).json()["user"]["id"]
        self._user_ids.append(user_id)
        return user_id

    def make_trust(self) -> Trust:
        details = self._openstack.details
        project_id, session = next(iter(self._lessee_sessions.items()))
        body = {
            "trustor_user_id": session.get_user_id(),
            "trustee_user_id": details.accounts["blazar"].user_id,
            "project_id": project_id,
            "roles": [{"name": "member"}],
            "impersonation": True,
        }
        keystone = make_adapter(session, "identity")
        trust = keystone.post("/OS-TRUST/trusts", json={"trust": body}).json()["trust"]
        return Trust(**{name: trust[name] for name in ("id", *list(body)[:3])})

    def attach(self, floating_ip_id: str) -> None:
        self._floating_ips.attach(floating_ip_id)

    def forward_port(self, floating_ip_id: str) -> str:
        return self._floating_ips.forward_port(floating_ip_id)

    def remove_everything(self) -> None:
        """Remove the objects with a name of this lab, and those in its projects."""
        for host in self._disabled:
            self._switch(host, "enable")
        for names, remove in self._removals():
            if not self._used.isdisjoint(names):
                remove()
        for user_id in self._user_ids:
            self._keystone.delete(f"/users/{user_id}")
        if "_projects" in self._used:
            for project_id in self.project_ids:
                self._keystone.delete(f"/projects/{project_id}")

    @property
    def _used(self) -> set[str]:
        """The ports of the cloud, and the properties of this lab, that a test has used."""
        return self._noted.used | self.__dict__.keys()

    def _removals(self) -> Sequence[tuple[tuple[str, ...], Callable[[], None]]]:
        """Return what to do, in this order, about the use of which ports and properties."""
        return (
            (("_nova",), self._remove_servers),
            (("storage", "block_storage", "storage_in"), lambda: self.storage.remove_everything()),
            (("aggregates",), self._remove_aggregates),
            (("flavors",), self._remove_flavors),
            (("server_groups", "compute_for"), self._remove_server_groups),
            (("images",), self._remove_images),
            (("placement",), self._remove_providers),
            (("networks",), lambda: self._floating_ips.remove_everything(self._adapter.networks)),
            (("segments",), lambda: self.segments.remove_everything()),
        )

    def _have_children_forgotten(self) -> None:
        while self._bereft:
            compute = self._openstack.service(f"nova-compute-{self._bereft.pop()}")
            compute.stop()
            compute.start()
            compute.wait_until_answers()

    def _switch(self, service_host: str, action: str, **more: str) -> None:
        body = {"host": service_host, "binary": "nova-compute", **more}
        self._nova.put(f"/os-services/{action}", json=body)

    def _remove_servers(self) -> None:
        cloud = self._adapter
        servers = [each for each in cloud.servers.list_servers() if each.project_id in self.project_ids]
        for server in servers:
            # A test may have deleted it already, and Nova ends that at any moment.
            with suppress(CloudNotFound):
                cloud.servers.delete_server(server.id)
        for server in servers:
            self.wait_until_gone(server.id)

    def _remove_aggregates(self) -> None:
        aggregates = self._adapter.aggregates
        for aggregate in aggregates.list_aggregates():
            if aggregate.name.startswith(self._prefix):
                for host in aggregate.hosts:
                    aggregates.remove_host(aggregate.id, host)
                aggregates.delete_aggregate(aggregate.id)

    def _remove_flavors(self) -> None:
        flavors = list_objects(self._nova, "/flavors?is_public=None", "flavors")
        for flavor_id in self._mine((each["id"], each["name"]) for each in flavors):
            self._adapter.flavors.delete_flavor(flavor_id)

    def _remove_server_groups(self) -> None:
        groups = self._adapter.server_groups
        for group_id in self._mine((each.id, each.name) for each in groups.list_server_groups()):
            groups.delete_server_group(group_id)

    def _remove_images(self) -> None:
        for image_id in self._mine((each.id, each.name) for each in self._adapter.images.list_images({})):
            self._api("image").delete(f"/v2/images/{image_id}")

    def _mine(self, ids_and_names: Iterable[tuple[str, str]]) -> list[str]:
        return [each for each, name in ids_and_names if name.startswith(self._prefix)]

    def _remove_providers(self) -> None:
        placement = self._api("placement")
        providers = list_objects(placement, "/resource_providers", "resource_providers")
        mine = self._mine((each["uuid"], each["name"]) for each in providers)
        while mine:
            # Children before parents.
            mine = [
                each for each in mine if not placement.delete(f"/resource_providers/{each}", raise_exc=False)
            ]
        self._bereft.update(self._parents)
        marker = self._prefix.upper().replace("-", "_")
        for name in self._adapter.placement.list_resource_classes():
            if marker in name:
                self._adapter.placement.delete_resource_class(name)

    @cached_property
    def _nova(self) -> Adapter:
        """Nova as an administrator sees it in the first project."""
        first, _ = self._projects
        auth_url = self._openstack.details.auth_url
        session = make_session(auth_url, self._admin.user, self._admin.password, first)
        return make_adapter(session, "compute")

    def _api(self, service_type: str) -> Adapter:
        return self._openstack.api(service_type)

    def _new_project(self, name: str) -> str:
        body = {"project": {"name": name, "domain_id": "default"}}
        project_id: str = self._keystone.post("/projects", json=body).json()["project"]["id"]
        return project_id

    def _grant(self, user_id: str, project_id: str, role: str) -> None:
        (found,) = self._keystone.get("/roles", params={"name": role}).json()["roles"]
        self._keystone.put(f"/projects/{project_id}/users/{user_id}/roles/{found['id']}")

    def _status(self, server_id: str) -> str | None:
        try:
            server = self._nova.get(f"/servers/{server_id}").json()["server"]
        except NotFound:
            return None
        status: str = server["status"]
        return status


@cache
def cloud_of(auth_url: str, account: Account, options: str) -> OpenStackCloud:
    """Return the adapter, which keeps a token and what it has learnt about the cloud, as in a manager."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "blazar.conf"
        path.write_text(OPTIONS.format(auth_url=auth_url, account=account) + options)
        conf = config.make_conf([], "contract", config_files=[str(path)])
        return make_cloud(conf, ManualClock())


@contextmanager
def openstack_lab(options: str = "") -> Iterator[ContractLab]:
    """Factory of the lab; *options* are added to the configuration of the adapter."""
    lab = ContractLab(options)
    try:
        yield lab
    finally:
        lab.remove_everything()


@contextmanager
def openstack_lab_with_uuids() -> Iterator[ContractLab]:
    """The same with UUIDs of hypervisors."""
    with openstack_lab("[nova]\nnova_client_version = 2.87\n") as lab:
        yield lab


if TYPE_CHECKING:
    _: LabFactory = openstack_lab
