"""Hosts, and the properties that hosts can be asked for by."""

from __future__ import annotations

from typing import Any

from blazarclient import base, exception
from blazarclient.base import Record, Records, many, one, ordered, path
from blazarclient.i18n import _


class ComputeHostClientManager(base.BaseClientManager):
    """Hosts that can be reserved, and their resource properties."""

    def create(self, name: str, **kwargs: Any) -> Record:
        """Return the host, newly registered.

        Args:
            name: The hypervisor's host name, or its id.
            kwargs: Extra capabilities.
        """
        _response, body = self.request_manager.post("/os-hosts", body={"name": name} | kwargs)
        return one(body, "host")

    def get(self, host_id: str) -> Record:
        """Return a host."""
        _response, body = self.request_manager.get(path("os-hosts", host_id))
        return one(body, "host")

    def update(self, host_id: str, values: Record) -> Record | str:
        """Return the changed host; or a sentence, when *values* is empty.

        Args:
            host_id: Which host.
            values: Extra capabilities to set; None removes one.
        """
        if not values:
            return _("There is nothing to update.")
        _response, body = self.request_manager.put(path("os-hosts", host_id), body=values)
        return one(body, "host")

    def delete(self, host_id: str) -> None:
        """Take a host out of the service's hands."""
        self.request_manager.delete(path("os-hosts", host_id))

    def list(self, sort_by: str | None = None) -> Records:
        """Return all hosts, sorted by a key if *sort_by* names one."""
        _response, body = self.request_manager.get(path("os-hosts"))
        return many(body, "hosts", sort_by)

    def list_properties(
        self,
        detail: bool = False,
        all: bool = False,  # noqa: A002  (the signature is public)
        sort_by: str | None = None,
    ) -> Records:
        """Return the resource properties of hosts.

        Args:
            detail: Also return ``private`` and ``property_values``.
            all: Also return private properties; for administrators.
            sort_by: Sort by this key.
        """
        query = {"detail": "True" if detail else None, "all": "True" if all else None}
        _response, body = self.request_manager.get(path("os-hosts", "properties", **query))
        properties = many(body, "resource_properties")
        if detail:
            properties = [_with_property_values(each) for each in properties]
        return ordered(properties, sort_by)

    def get_property(self, property_name: str) -> Record:
        """Return a resource property with its values.

        Raises:
            ResourcePropertyNotFound: There is none of that name that the caller may see.
        """
        # A second request is cheaper than a refusal for everybody who may not list private properties.
        for private_too in (False, True):
            try:
                properties = self.list_properties(detail=True, all=private_too)
            except exception.Forbidden:
                if not private_too:
                    raise
                break
            for each in properties:
                if each["property"] == property_name:
                    return each
        raise exception.ResourcePropertyNotFound()

    def set_property(self, property_name: str, private: bool) -> Record:
        """Return a resource property after it was made private or public."""
        _response, body = self.request_manager.patch(
            path("os-hosts", "properties", property_name), body={"private": private}
        )
        return one(body, "resource_property")


def _with_property_values(detailed: Record) -> Record:
    """Return a property with ``values`` renamed; the name collides with a method of dicts in templates."""
    return {("property_values" if key == "values" else key): value for key, value in detailed.items()}
