"""Networks by name, where there is a network service to ask."""

from __future__ import annotations

import re
from typing import Any

from keystoneauth1 import exceptions as ksa_exceptions
from openstack import exceptions as sdk_exceptions

from blazarclient import command, exception
from blazarclient.i18n import _


def find(app: Any, name_or_id: str) -> str:
    """Return the id of a network; what looks like an id, or nobody can tell more of, is taken as it is.

    Raises:
        NoUniqueMatch: Several networks have that name.
    """
    if re.fullmatch(command.UUID_PATTERN, name_or_id):
        return name_or_id
    connection = getattr(getattr(app, "client_manager", None), "sdk_connection", None)
    if connection is None:
        return name_or_id
    try:
        found = connection.network.find_network(name_or_id)
    except sdk_exceptions.DuplicateResource:
        raise exception.NoUniqueMatch(
            _("There are several networks with name '%s'; use an id") % name_or_id
        ) from None
    except (sdk_exceptions.SDKException, ksa_exceptions.ClientException):
        return name_or_id
    return str(found.id) if found is not None else name_or_id
