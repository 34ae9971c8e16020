"""The requests about hosts, served with their use cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from blazar.booking.context import Context
from blazar.booking.serving import TypeService, same_for_all, use_case
from blazar.plugins.hosts import lists, properties, use_cases
from blazar.plugins.hosts.requests import REQUESTS, HostRequests


class HostService:
    """Implements :class:`blazar.plugins.hosts.requests.HostRequests`."""

    def __init__(self, context: Context) -> None:
        self.context = context

    list_hosts = use_case(lists.list_hosts)
    get_host = use_case(use_cases.get_host)
    create_host = same_for_all(use_cases.create_host)
    update_host = use_case(use_cases.update_host)
    delete_host = same_for_all(use_cases.delete_host)
    list_allocations = same_for_all(lists.list_allocations)
    get_allocations = same_for_all(use_cases.get_allocations)
    list_resource_properties = use_case(properties.list_resource_properties)
    update_resource_property = same_for_all(properties.update_resource_property)


SERVICE: Final = TypeService(requests=REQUESTS, make=HostService)

if TYPE_CHECKING:

    def _witness(service: HostService) -> HostRequests:
        return service
