"""Resource properties of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from blazarclient import base, exception
from blazarclient.base import Record, Records, many, one, ordered, path


class PropertyClientManager(base.BaseClientManager):
    """Base of managers of resources that have properties.

    Attributes:
        collection: Name of the collection in URLs.
        headers: Headers of all requests, for a collection that API 1.0 does not have.
    """

    collection: ClassVar[str]
    headers: ClassVar[Mapping[str, str]] = {}

    def list_properties(
        self,
        detail: bool = False,
        all: bool = False,  # noqa: A002  (the signature is public)
        sort_by: str | None = None,
    ) -> Records:
        """Return the resource properties.

        Args:
            detail: Include ``private`` and ``property_values``.
            all: Include private properties; administrators only.
            sort_by: Key to sort by.
        """
        query = {"detail": "True" if detail else None, "all": "True" if all else None}
        _response, body = self.request_manager.request(
            path(self.collection, "properties", **query), "GET", headers=dict(self.headers)
        )
        properties = many(body, "resource_properties")
        if detail:
            properties = [_with_property_values(each) for each in properties]
        return ordered(properties, sort_by)

    def get_property(self, property_name: str) -> Record:
        """Return a resource property with its values.

        Raises:
            ResourcePropertyNotFound: The user can see no property with that name.
        """
        # Most users are not allowed to list private properties, so these are requested only if needed.
        for include_private in (False, True):
            try:
                properties = self.list_properties(detail=True, all=include_private)
            except exception.Forbidden:
                if not include_private:
                    raise
                break
            for each in properties:
                if each["property"] == property_name:
                    return each
        raise exception.ResourcePropertyNotFound()

    def set_property(self, property_name: str, private: bool) -> Record:
        """Make a resource property private or public and return it."""
        _response, body = self.request_manager.request(
            path(self.collection, "properties", property_name),
            "PATCH",
            body={"private": private},
            headers=dict(self.headers),
        )
        return one(body, "resource_property")


def _with_property_values(detailed: Record) -> Record:
    """Rename ``values``, which in Django templates would call the method of the dict."""
    return {("property_values" if key == "values" else key): value for key, value in detailed.items()}
