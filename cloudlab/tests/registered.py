"""Resources that a test has registered with the service."""

from __future__ import annotations

import functools
from typing import Any, Final, Protocol

from blazarclient.exception import BlazarClientException
from cloudlab.waiting import wait_until

_SECONDS: Final = 90


class Collection(Protocol):
    """The part of the library about one kind of resources."""

    def list(self) -> Any:
        """Return all resources."""

    def delete(self, resource_id: str) -> None:
        """Remove a resource from the service."""


def deregister_all(resources: Collection) -> None:
    """Remove all resources of a kind, after waiting for the leases that hold them."""
    for each in [str(each["id"]) for each in resources.list()]:
        wait_until(functools.partial(_is_removed, resources, each), f"{each} is free", seconds=_SECONDS)


def _is_removed(resources: Collection, resource_id: str) -> bool:
    try:
        resources.delete(resource_id)
    except BlazarClientException as error:
        if error.code == 409:
            return False
        raise
    return True
