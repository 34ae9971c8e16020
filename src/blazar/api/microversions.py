"""The version of the API that a request asks for.

Source: rest-api 3.
"""

from __future__ import annotations

import re

import falcon

SERVICE = "reservation"
HEADER = "OpenStack-API-Version"
MIN_VERSION = (1, 0)
MAX_VERSION = (1, 0)
DEFAULT_VERSION = (1, 0)

_SYNTAX = re.compile(r"([1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")

Version = tuple[int, int]


def text(version: Version) -> str:
    """Return a version as clients write it."""
    return f"{version[0]}.{version[1]}"


def negotiate(header: str | None) -> Version:
    """Return the version that the header's last entry for this service asks for.

    Entries for other services, and entries that name no service, are not for us.

    Raises:
        falcon.HTTPBadRequest: It is not a version.
        falcon.HTTPNotAcceptable: It is one that is not served.
    """
    entries = [entry.split(None, 1) for entry in (header or "").split(",")]
    asked = [entry[1].strip() for entry in entries if len(entry) == 2 and entry[0].lower() == SERVICE]
    if not asked:
        return DEFAULT_VERSION
    if asked[-1] == "latest":
        return MAX_VERSION
    return _served(asked[-1])


def _served(asked: str) -> Version:
    match = _SYNTAX.fullmatch(asked)
    if match is None:
        raise falcon.HTTPBadRequest(description=f"API version {asked[:64]} is not written as major.minor")
    version = int(match[1]), int(match[2])
    if not MIN_VERSION <= version <= MAX_VERSION:
        raise falcon.HTTPNotAcceptable(
            description=f"API version {asked} is not served: "
            f"the least is {text(MIN_VERSION)}, the greatest {text(MAX_VERSION)}"
        )
    return version
