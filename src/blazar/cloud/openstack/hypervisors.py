"""Nova's hypervisors, and the availability zones of compute services."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from blazar.cloud.openstack.rest import RestClient
from blazar.domain.errors import CloudConflict
from blazar.ports.compute import Hypervisor

if TYPE_CHECKING:
    from blazar.ports.compute import Hypervisors

_PAGED_SINCE = (2, 33)
_UUIDS_SINCE = (2, 53)

_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PATTERN = re.compile(r"[a-zA-Z0-9._-]+")
"""Characters that Nova accepts in a name pattern from 2.53 on."""

ItemT = TypeVar("ItemT")


class OpenStackHypervisors:
    """The compute nodes and their availability zones. Calls use the configured microversion."""

    def __init__(self, nova: RestClient, *, microversion: tuple[int, int]) -> None:
        """Create the adapter; makes no call.

        Args:
            nova: The client with the service's credentials.
            microversion: From 2.53 on, the ids are UUIDs.
        """
        self._nova = nova
        self._version = "{}.{}".format(*microversion)
        self._is_paged = microversion >= _PAGED_SINCE
        self._has_uuids = microversion >= _UUIDS_SINCE

    def find_hypervisor(self, name_or_id: str) -> Hypervisor | None:
        """Return the hypervisor with this id or this exact host name, or None.

        Makes one request for an id, two for a name if ids are integers, and one for a name if ids are UUIDs.

        Raises:
            CloudConflict: Several hypervisors have this name.
        """
        found = self._by_id(name_or_id) if self._may_be_id(name_or_id) else None
        return found or self._by_name(name_or_id)

    def list_hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return all hypervisors, by id."""
        found = self._nova.list(
            "os-hypervisors",
            "detail",
            key="hypervisors",
            parse=_hypervisor,
            version=self._version,
            # Nova marks a page as the last one if a node on it has no service, even if more pages follow.
            until_empty=self._is_paged,
        )
        return tuple(sorted(found, key=lambda each: each.id))

    def list_availability_zones(self) -> Mapping[str, str]:
        """Return each compute service host's availability zone, as Nova shows it.

        The zones are read from the services, because Nova's list of zones omits disabled hosts.
        """
        zones = self._nova.list(
            "os-services",
            key="services",
            parse=lambda each: (each["host"], each["zone"]),
            params={"binary": "nova-compute"},
            version="2.1",
        )
        return dict(zones)

    def _may_be_id(self, text: str) -> bool:
        return bool((_UUID if self._has_uuids else _NUMBER).fullmatch(text))

    def _by_id(self, hypervisor_id: str) -> Hypervisor | None:
        answer = self._nova.find("os-hypervisors", hypervisor_id, version=self._version)
        return None if answer is None else answer.read(lambda body: _hypervisor(body["hypervisor"]))

    def _by_name(self, name: str) -> Hypervisor | None:
        if not self._has_uuids:
            ids = self._search(name, lambda body: str(body["id"]), "os-hypervisors", name, "search")
            found = _only(ids, name)
            return None if found is None else self._by_id(found)
        if not _PATTERN.fullmatch(name):
            named = tuple(each for each in self.list_hypervisors() if each.hypervisor_hostname == name)
            return _only(named, name)
        query = {"hypervisor_hostname_pattern": name}
        return _only(self._search(name, _hypervisor, "os-hypervisors", "detail", params=query), name)

    def _search(
        self,
        name: str,
        parse: Callable[[Any], ItemT],
        *segments: str,
        params: Mapping[str, str] | None = None,
    ) -> tuple[ItemT, ...]:
        """Return the hypervisors with exactly this name; the response may contain other hypervisors."""
        answer = self._nova.find(*segments, params=params, version=self._version)
        if answer is None:
            return ()
        return answer.read(
            lambda body: tuple(
                parse(each) for each in body["hypervisors"] if each["hypervisor_hostname"] == name
            )
        )


def _only(items: tuple[ItemT, ...], name: str) -> ItemT | None:
    if len(items) > 1:
        raise CloudConflict(f"Nova: {len(items)} hypervisors are named {name}")
    return items[0] if items else None


def _hypervisor(body: Mapping[str, Any]) -> Hypervisor:
    cpu_info, service = body["cpu_info"], body["service"]
    return Hypervisor(
        id=str(body["id"]),
        hypervisor_hostname=body["hypervisor_hostname"],
        service_host=service["host"],
        hypervisor_type=body["hypervisor_type"],
        hypervisor_version=int(body["hypervisor_version"]),
        vcpus=int(body["vcpus"]),
        memory_mb=int(body["memory_mb"]),
        local_gb=int(body["local_gb"]),
        # Text up to 2.27, an object since; drivers without the information leave it empty.
        cpu_info=(cpu_info if isinstance(cpu_info, str) else json.dumps(cpu_info or {})) or "{}",
        is_up=body["state"] == "up",
        is_enabled=body["status"] == "enabled",
        disabled_reason=service.get("disabled_reason") or "",
    )


if TYPE_CHECKING:

    def _witness(hypervisors: OpenStackHypervisors) -> Hypervisors:
        return hypervisors
