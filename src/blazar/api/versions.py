"""Handlers for the version documents, which need no token."""

from __future__ import annotations

from typing import Final

from blazar.api import microversions
from blazar.api.call import Call, Handler
from blazar.api.route import Route
from blazar.api.schema_parts import wrapped, wrapped_list
from blazar.api.validation import JsonSchema


def list_versions(call: Call) -> object:
    """Return the served versions, of which there is one."""
    return {"versions": [_version(call.base_url)]}


def get_version(call: Call) -> object:
    """Return the document of version 1."""
    return {"version": _version(call.base_url)}


def _version(base_url: str) -> dict[str, object]:
    return {
        "id": "v1.0",
        "status": "CURRENT",
        "links": [{"href": f"{base_url}/v1", "rel": "self"}],
        "min_version": microversions.text(microversions.MIN_VERSION),
        "max_version": microversions.text(microversions.MAX_VERSION),
    }


_VERSIONS = wrapped_list("versions", "Version")
_A_VERSION = wrapped("version", "Version")


def _document(path: str, handler: Handler, status: int, answer: JsonSchema) -> Route:
    return Route(method="GET", path=path, handler=handler, rules=(), status=status, answer=answer)


ROUTES: Final = (
    _document("/", list_versions, 300, _VERSIONS),
    _document("/versions", list_versions, 300, _VERSIONS),
    _document("/v1", get_version, 200, _A_VERSION),
    _document("/v1/", get_version, 200, _A_VERSION),
)
