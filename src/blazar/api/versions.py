"""Handlers for the version documents, which need no token."""

from __future__ import annotations

from blazar.api import microversions
from blazar.api.call import Call


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
