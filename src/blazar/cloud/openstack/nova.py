"""What the parts of Nova have in common."""

from __future__ import annotations

from dataclasses import dataclass

from blazar.cloud.openstack.rest import RestClient


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaServices:
    """What the compute port is made of."""

    nova: RestClient
    glance: RestClient
    hypervisor_version: tuple[int, int]
    """The microversion with which hypervisors are asked for; ids are UUIDs from 2.53 on."""


class NovaPart:
    """Some of Nova's methods."""

    def __init__(self, services: NovaServices) -> None:
        self._services = services

    @property
    def _nova(self) -> RestClient:
        return self._services.nova
