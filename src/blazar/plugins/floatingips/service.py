"""The requests about floating IPs, served with their use cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from blazar.booking.context import Context
from blazar.booking.serving import TypeService, same_for_all, use_case
from blazar.plugins.floatingips import use_cases
from blazar.plugins.floatingips.requests import REQUESTS, FloatingIPRequests


class FloatingIPService:
    """Implements :class:`blazar.plugins.floatingips.requests.FloatingIPRequests`."""

    def __init__(self, context: Context) -> None:
        self.context = context

    list_floatingips = use_case(use_cases.list_floatingips)
    get_floatingip = use_case(use_cases.get_floatingip)
    create_floatingip = same_for_all(use_cases.create_floatingip)
    delete_floatingip = same_for_all(use_cases.delete_floatingip)


SERVICE: Final = TypeService(requests=REQUESTS, make=FloatingIPService)

if TYPE_CHECKING:

    def _witness(service: FloatingIPService) -> FloatingIPRequests:
        return service
