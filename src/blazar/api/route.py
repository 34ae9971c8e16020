"""The declaration of one method on one path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import falcon

from blazar.api.call import Handler
from blazar.api.lists import PagedList
from blazar.api.microversions import MIN_VERSION, Version
from blazar.api.validation import BodySchema, JsonSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method on one path. HEAD is added to GET, and OPTIONS to every path."""

    method: str
    path: str
    """Variable parts in braces."""
    handler: Handler
    """Its name is that of the operation in the OpenAPI document, unless the route names another."""
    rules: tuple[str, ...]
    """The policy rules to check, in order; empty for the version documents, which are public."""
    name: str = ""
    """The name of the operation, if several routes have the same handler."""
    since: Version = MIN_VERSION
    """First microversion in which the path exists. A public path is served for any requested version."""
    asked_by_handler: tuple[str, ...] = ()
    """Policy rules that refuse no request, but on which the response depends."""
    status: int = 200
    body: BodySchema | None = None
    body_at_1_0: BodySchema | None = None
    """The schema at version 1.0, if it differs."""
    answer: JsonSchema | None = None
    preview: JsonSchema | None = None
    """The response with status 200 to a request with ``dry_run``, from 1.1 on; None if it cannot have it."""
    query: tuple[str, ...] = ()
    described: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of parameters of the query that differ from those of other routes."""
    pages: PagedList | None = None
    """The list's pages and parameters from 1.1 on."""
    looked_up_by: Handler | None = None
    """Handler called after the first rule, so that callers who may read get a 404 before any other error."""
    about_lease: bool = False
    """Whether to check the rules against the owner of ``{lease_id}``; the handler then gets the lease."""
    accepts_idempotency_key: bool = False
    """Whether the handler honours ``Call.idempotency_key``."""
    media_type: str = falcon.MEDIA_JSON
    """The media type of the answer; unless it is JSON, the handler returns text."""
    has_tag: bool = False
    """Whether answers have an ``ETag``, and the handler honours ``Call.known_tags``."""
    expects_owner: bool = False
    """Whether the handler passes ``Call.owner`` to the manager, so that the lease need not be read first."""

    @property
    def is_public(self) -> bool:
        """Return whether the route is served without authentication, microversion and policy."""
        return not self.rules
