"""Port: the API's requests to a manager about floating IPs.

They follow the rules of :mod:`blazar.ports.manager`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from blazar.ports.manager import Caller, JsonObject, RequestsKey


class FloatingIPRequests(Protocol):
    """The requests."""

    def list_floatingips(self, caller: Caller, page: JsonObject | None = None) -> Sequence[JsonObject]:
        """Return the registered floating IPs, or a page of them."""

    def get_floatingip(self, caller: Caller, floatingip_id: str) -> JsonObject:
        """Return a floating IP. Raises FloatingIPNotFound."""

    def create_floatingip(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Register an address of an external network and return it."""

    def delete_floatingip(self, caller: Caller, floatingip_id: str) -> None:
        """Remove an address from the service, so that the operator can use it for other purposes."""


REQUESTS: Final[RequestsKey[FloatingIPRequests]] = RequestsKey(FloatingIPRequests)
