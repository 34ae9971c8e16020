"""Ids of projects and networks by name, from Keystone and Neutron."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from keystoneauth1 import exceptions as ksa_exceptions
from openstack import exceptions as sdk_exceptions

from blazarclient import exception, utils
from blazarclient.i18n import _

LookUp = Callable[[Any], Any]
"""Returns, for an openstacksdk connection, the resource with a name or id, or None."""


def connection_of(app: Any) -> Any:
    """Return the openstacksdk connection of the program that runs a command, or None if it has none."""
    return getattr(getattr(app, "client_manager", None), "sdk_connection", None)


def find_project(app: Any, name_or_id: str) -> str:
    """Return the id of a project, or *name_or_id* if Keystone does not show such a project to the user.

    Raises:
        NoUniqueMatch: Several projects have the name.
    """

    def look_up(connection: Any) -> Any:
        # Users can read the project of their token, but only some can list projects.
        current = connection.current_project
        if current.name == name_or_id:
            return current
        return connection.identity.find_project(name_or_id)

    return _find_id(app, _("project"), name_or_id, look_up)


def find_network(app: Any, name_or_id: str) -> str:
    """Return the id of a network, or *name_or_id* if it is a UUID or Neutron does not find such a network.

    Raises:
        NoUniqueMatch: Several networks have the name.
    """
    if re.fullmatch(utils.UUID, name_or_id):
        return name_or_id
    return _find_id(
        app, _("network"), name_or_id, lambda connection: connection.network.find_network(name_or_id)
    )


def _find_id(app: Any, kind: str, name_or_id: str, look_up: LookUp) -> str:
    """Return the id that *look_up* finds, or *name_or_id* if the cloud does not answer or finds none.

    Raises:
        NoUniqueMatch: The lookup finds several resources.
    """
    connection = connection_of(app)
    if connection is None:
        return name_or_id
    try:
        found = look_up(connection)
    except sdk_exceptions.DuplicateResource:
        raise exception.NoUniqueMatch(
            _("More than one %(kind)s has the name '%(name)s'; use the id instead")
            % {"kind": kind, "name": name_or_id}
        ) from None
    except (sdk_exceptions.SDKException, ksa_exceptions.ClientException):
        return name_or_id
    return str(found.id) if found is not None else name_or_id
