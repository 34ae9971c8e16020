"""The common part of the adapters for Nova."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blazar.cloud.openstack.rest import RestClient


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaServices:
    """The clients and settings of the compute port."""

    nova: RestClient
    glance: RestClient
    project_id: Callable[[], str]
    """Returns the id of the service's own project, in which Glance creates images."""
    hypervisor_version: tuple[int, int]
    """The microversion for hypervisors; from 2.53 on, their ids are UUIDs."""


class NovaPart:
    """Base class for a part of the compute port."""

    def __init__(self, services: NovaServices) -> None:
        self._services = services

    @property
    def _nova(self) -> RestClient:
        return self._services.nova
