"""Collections of resources that operators register over the API, as their plugins declare them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

_PATH: Final = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceCollection:
    """The API of a collection: ``/v1/<path>`` with list, register, show, change, remove, and sub-paths.

    The sub-paths are ``/allocations``, ``/<id>/allocation`` and ``/properties``. Policy rules are
    ``blazar:<path>:get``, ``:post``, ``:put``, ``:delete``, ``:get_allocations``,
    ``:get_resource_properties`` and ``:update_resource_properties``.

    Raises:
        ValueError: The path has characters other than lower case letters, digits and hyphens, or the schema
            lacks the key of the name.
    """

    name: str
    """The kind under which the resources are stored; ``collection`` of the plugins that reserve them."""
    path: str
    singular: str
    """The key of one resource in bodies of responses."""
    plural: str
    """The key of the list of all resources."""
    create_schema: Mapping[str, object]
    """The JSON Schema of the body with which a resource is registered.

    Forms show the first of its ``examples``.
    """
    create_name_key: str | None = None
    """The key of that body whose value becomes the name of the resource, if there is one."""
    update_schema: Mapping[str, object] | None = None
    """The JSON Schema of the body with which a resource is changed; None if it cannot be changed."""
    registers_several: bool = False
    """Whether one request can register several resources; the response then has ``plural`` instead."""
    readers: frozenset[str] = field(default=frozenset({"admin"}))
    """Who may list and show resources by default: ``admin``, or also ``reader``, the readers of projects."""

    def __post_init__(self) -> None:
        if not _PATH.fullmatch(self.path):
            raise ValueError(f"{self.path!r} is not a path: use lower case letters, digits and hyphens")
        known = self.create_schema.get("properties", {})
        if self.create_name_key is not None and self.create_name_key not in cast(
            "Mapping[str, object]", known
        ):
            raise ValueError(f"create_name_key: {self.create_name_key!r} is not a property of create_schema")

    def rule(self, action: str) -> str:
        """Return the name of a policy rule, such as ``blazar:things:get`` for the action ``get``."""
        return f"blazar:{self.path}:{action}"
