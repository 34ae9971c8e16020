"""The catalogue: types, properties and limits of reservations."""

from __future__ import annotations

from blazarclient import base
from blazarclient.base import Record


class CatalogueClientManager(base.BaseClientManager):
    """The catalogue of the service."""

    def get(self, *, with_choices: bool = False) -> Record:
        """Return what the caller can reserve, and within which limits.

        Args:
            with_choices: Also list the objects of the cloud that a request can name, such as flavors.

        Returns:
            ``resource_types``, ``properties``, ``availability_zones``, ``limits`` and others, as in the API.

        Raises:
            NotFound: The service does not support API version 1.1, or has no catalogue.
        """
        path = "/catalogue?choices=true" if with_choices else "/catalogue"
        _response, body = self.request_manager.request(path, "GET", headers=base.API_1_1)
        return base.one(body, "catalogue")
