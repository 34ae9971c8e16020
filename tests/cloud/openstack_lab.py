"""The running cloudlab as a lab for the contract suite.

Every test has its own projects, and uses the hosts without servers that are in no aggregate.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from clocks import ManualClock
from cloud.contract.lab import LabHost, LabNetwork
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
from cloudlab.lab import OpenStackLab
from cloudlab.rest import list_objects, make_adapter, make_session

if TYPE_CHECKING:
    from cloud.contract.lab import LabFactory

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
    """Two hosts and the external network of the cloudlab, and two new projects."""

    _bereft: ClassVar[set[str]] = set()
    """Hosts that lost a child provider. Nova's compute service reads its tree of providers every five
    minutes. If it read the tree with the child, it builds no server until it reads the tree again or is
    restarted."""

    def __init__(self, options: str) -> None:
        self._openstack = OpenStackLab.of_this_process()
        self._parents: set[str] = set()
        self._prefix = f"contract-{uuid.uuid4().hex[:8]}"
        self._disabled: list[str] = []
        self._keystone = self._api("identity")
        self._admin = self._openstack.details.accounts["admin"]
        self.cloud = self._make_cloud(options)
        self.hosts = self._free_hosts()
        self.similar_names = ("node-1", "node-10")
        self.project_ids = (self._new_project("one"), self._new_project("two"))
        self.segments = NeutronSegments(self._neutron, self.project_ids)
        self.storage = CinderStorage(self._api("block-storage"), self, self._prefix, self.project_ids)
        self._grant(self._admin.user_id, self.project_ids[0], "admin")

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
        return Lessee(project_id=self.project_ids[0], token=self._lessee_session.get_token())

    @property
    def _lessee_session(self) -> Session:
        return self._lessee_sessions[self.project_ids[0]]

    @cached_property
    def _lessee_sessions(self) -> Mapping[str, Session]:
        """The sessions of a new member of both projects."""
        name, password = self.name("lessee"), uuid.uuid4().hex
        body = {"user": {"name": name, "password": password, "domain_id": "default"}}
        user_id = self._keystone.post("/users", json=body).json()["user"]["id"]
        sessions = {}
        for project_id, suffix in zip(self.project_ids, ("one", "two"), strict=True):
            self._grant(user_id, project_id, "member")
            auth_url = self._openstack.details.auth_url
            sessions[project_id] = make_session(auth_url, name, password, self.name(suffix))
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
        user_id: str = self._keystone.post("/users", json=body).json()["user"]["id"]
        return user_id

    def make_trust(self) -> Trust:
        details = self._openstack.details
        body = {
            "trustor_user_id": self._lessee_session.get_user_id(),
            "trustee_user_id": details.accounts["blazar"].user_id,
            "project_id": self.project_ids[0],
            "roles": [{"name": "member"}],
            "impersonation": True,
        }
        keystone = make_adapter(self._lessee_session, "identity")
        trust = keystone.post("/OS-TRUST/trusts", json={"trust": body}).json()["trust"]
        return Trust(**{name: trust[name] for name in ("id", *list(body)[:3])})

    def attach(self, floating_ip_id: str) -> None:
        body = {"floatingip": {"port_id": self._add_inner_port()["id"]}}
        self._neutron.put(f"/v2.0/floatingips/{floating_ip_id}", json=body)

    def forward_port(self, floating_ip_id: str) -> str:
        port = self._add_inner_port()
        body = {
            "protocol": "tcp",
            "external_port": 2222,
            "internal_port": 22,
            "internal_port_id": port["id"],
            "internal_ip_address": port["fixed_ips"][0]["ip_address"],
        }
        path = f"/v2.0/floatingips/{floating_ip_id}/port_forwardings"
        made = self._neutron.post(path, json={"port_forwarding": body}).json()
        forwarding_id: str = made["port_forwarding"]["id"]
        return forwarding_id

    def _add_inner_port(self) -> dict[str, Any]:
        body = {"network_id": self._inner_network, "project_id": self.project_ids[0]}
        made: dict[str, Any] = self._neutron.post("/v2.0/ports", json={"port": body}).json()["port"]
        return made

    def remove_everything(self) -> None:
        """Remove the objects with a name of this lab, and those in its projects."""
        for host in self._disabled:
            self._switch(host, "enable")
        self._remove_servers()
        self.storage.remove_everything()
        self._remove_aggregates()
        self._remove_flavors_groups_and_images()
        self._remove_providers()
        self._remove_network_objects()
        for suffix in ("lessee", "mailed"):
            for user in self._keystone.get("/users", params={"name": self.name(suffix)}).json()["users"]:
                self._keystone.delete(f"/users/{user['id']}")
        for project_id in self.project_ids:
            self._keystone.delete(f"/projects/{project_id}")

    def _free_hosts(self) -> tuple[LabHost, ...]:
        cloud = self.cloud
        taken = {host for each in cloud.aggregates.list_aggregates() for host in each.hosts}
        taken |= {each.service_host for each in cloud.servers.list_servers()}
        free = [each for each in self._openstack.details.hosts if each not in taken]
        assert len(free) >= NEEDED_HOSTS, f"the suite needs {NEEDED_HOSTS} hosts of its own; free are {free}"
        return tuple(LabHost(hypervisor_hostname=each, service_host=each) for each in free)

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
        cloud = self.cloud
        servers = [each for each in cloud.servers.list_servers() if each.project_id in self.project_ids]
        for server in servers:
            # A test may have deleted it already, and Nova ends that at any moment.
            with suppress(CloudNotFound):
                cloud.servers.delete_server(server.id)
        for server in servers:
            self.wait_until_gone(server.id)

    def _remove_aggregates(self) -> None:
        cloud = self.cloud
        for aggregate in cloud.aggregates.list_aggregates():
            if aggregate.name.startswith(self._prefix):
                for host in aggregate.hosts:
                    cloud.aggregates.remove_host(aggregate.id, host)
                cloud.aggregates.delete_aggregate(aggregate.id)

    def _remove_flavors_groups_and_images(self) -> None:
        cloud = self.cloud
        flavors = list_objects(self._nova, "/flavors?is_public=None", "flavors")
        for flavor_id in self._mine((each["id"], each["name"]) for each in flavors):
            cloud.flavors.delete_flavor(flavor_id)
        for group_id in self._mine((each.id, each.name) for each in cloud.server_groups.list_server_groups()):
            cloud.server_groups.delete_server_group(group_id)
        for image_id in self._mine((each.id, each.name) for each in cloud.images.list_images({})):
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
        for name in self.cloud.placement.list_resource_classes():
            if marker in name:
                self.cloud.placement.delete_resource_class(name)

    def _remove_network_objects(self) -> None:
        networks = self.cloud.networks
        for floating_ip in networks.list_floating_ips():
            if floating_ip.project_id in self.project_ids:
                for forwarding_id in networks.list_port_forwardings(floating_ip.id):
                    networks.delete_port_forwarding(floating_ip.id, forwarding_id)
                networks.delete_floating_ip(floating_ip.id)
        self.segments.remove_everything()
        if "_inner_network" in self.__dict__:
            query = f"?project_id={self.project_ids[0]}"
            for router in list_objects(self._neutron, f"/v2.0/routers{query}", "routers"):
                for subnet in list_objects(self._neutron, f"/v2.0/subnets{query}", "subnets"):
                    self._neutron.put(
                        f"/v2.0/routers/{router['id']}/remove_router_interface",
                        json={"subnet_id": subnet["id"]},
                    )
                self._neutron.delete(f"/v2.0/routers/{router['id']}")
            for port in list_objects(self._neutron, f"/v2.0/ports{query}", "ports"):
                self._neutron.delete(f"/v2.0/ports/{port['id']}")
            self._neutron.delete(f"/v2.0/networks/{self._inner_network}")

    @cached_property
    def _nova(self) -> Adapter:
        """Nova as an administrator sees it in the first project."""
        details = self._openstack.details
        session = make_session(details.auth_url, self._admin.user, self._admin.password, self.name("one"))
        return make_adapter(session, "compute")

    @cached_property
    def _neutron(self) -> Adapter:
        return self._api("network")

    @cached_property
    def _inner_network(self) -> str:
        """A network of the first project, with a router to the external one."""
        project_id = self.project_ids[0]

        def make(collection: str, key: str, **body: Any) -> str:
            body = {key: {"project_id": project_id, **body}}
            made: str = self._neutron.post(f"/v2.0/{collection}", json=body).json()[key]["id"]
            return made

        network_id = make("networks", "network", name=self.name("inner"))
        subnet_id = make("subnets", "subnet", network_id=network_id, ip_version=4, cidr="192.0.2.0/24")
        gateway = {"network_id": self._openstack.details.network_id}
        router_id = make("routers", "router", name=self.name("router"), external_gateway_info=gateway)
        path = f"/v2.0/routers/{router_id}/add_router_interface"
        self._neutron.put(path, json={"subnet_id": subnet_id})
        return network_id

    def _make_cloud(self, options: str) -> OpenStackCloud:
        details = self._openstack.details
        text = OPTIONS.format(auth_url=details.auth_url, account=details.accounts["blazar"])
        with TemporaryDirectory() as folder:
            path = Path(folder) / "blazar.conf"
            path.write_text(text + options)
            conf = config.make_conf([], "contract", config_files=[str(path)])
            return make_cloud(conf, ManualClock())

    def _api(self, service_type: str) -> Adapter:
        return self._openstack.api(service_type)

    def _new_project(self, suffix: str) -> str:
        body = {"project": {"name": self.name(suffix), "domain_id": "default"}}
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
