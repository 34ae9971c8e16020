"""A request as handlers receive it: authenticated, authorized, and with a valid body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from oslo_context.context import RequestContext

from blazar.api.microversions import DEFAULT_VERSION, DRY_RUN, Version
from blazar.api.permissions import PRIVATE_PROPERTIES, Policy, Target
from blazar.domain.errors import InvalidParameter
from blazar.ports.manager import Caller, JsonObject, Manager
from blazar.settings import DEFAULT_MAX_LIMIT
from blazar.telemetry.log_context import LeaseRequestContext, shown_id

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

    from blazar.api.validation import JsonSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The input of a handler."""

    manager: Manager
    policy: Policy
    identity: RequestContext
    caller: Caller
    base_url: str
    """Scheme, host and mount prefix, without a trailing slash."""
    max_limit: int = DEFAULT_MAX_LIMIT
    """The most items of a page of a list."""
    reservation_schemas: Mapping[str, JsonSchema] = field(default_factory=dict)
    """The schemas of the reservations of the served resource types, by type."""
    collections: Sequence[JsonObject] = ()
    """The served collections of resources, as the catalogue describes them."""
    version: Version = DEFAULT_VERSION
    """The negotiated microversion; version documents have the default."""
    params: Mapping[str, str] = field(default_factory=dict)
    """The variable parts of the path."""
    query: Mapping[str, str] = field(default_factory=dict)
    """The parameters of the query; the first value of a parameter that is repeated."""
    body: JsonObject = field(default_factory=dict)
    lease: JsonObject = field(default_factory=dict)
    """The lease named in the path, as it was before the handler ran; empty for changes."""
    idempotency_key: str | None = None
    """The key of a request that must take effect at most once, on routes that accept one."""
    known_tags: tuple[str, ...] = ()
    """The tags of answers that the caller has, on routes whose answers have tags."""
    owner: JsonObject | None = None
    """The owner that the lease must have to be changed; None for a manager that does not check the owner."""

    @property
    def is_admin(self) -> bool:
        """Return whether the caller satisfies the policy rule ``admin``."""
        return self.policy.is_admin(self.identity)

    @property
    def property_caller(self) -> Caller:
        """Return the caller for manager calls in which private properties matter."""
        sees = self.policy.allows(self.identity, PRIVATE_PROPERTIES, self.own_target)
        return replace(self.caller, sees_private_properties=sees)

    @property
    def is_dry_run(self) -> bool:
        """Return whether the request must have no effect; API 1.0 ignores all parameters.

        Raises:
            InvalidParameter: The value is neither true nor false. A request that was meant as a dry run must
                not take effect because of a typo.
        """
        return self.version >= DRY_RUN and self.is_true("dry_run")

    def is_true(self, name: str) -> bool:
        """Return whether a parameter of the query is true. Raises InvalidParameter if it is no boolean."""
        value = _BOOLEANS.get(self.query.get(name, "false").lower())
        if value is None:
            raise InvalidParameter(name, "must be true or false")
        return value

    @property
    def own_target(self) -> Target:
        """Return the caller's own project and user as the target of a policy rule."""
        return {"project_id": self.caller.project_id, "user_id": self.caller.user_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The value of a response that also has headers, or a status other than the route's."""

    value: object
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int | None = None
    """None for the status of the route."""


Handler = Callable[[Call], object]
"""Takes a call and returns the JSON value of the response; None for a response without a body.

The members of an object may be :class:`~blazar.domain.written_objects.WrittenObjects`. A response that also
has headers or a status of its own is a :class:`Response`.
"""


def identity_of(environ: WSGIEnvironment, lease_id: str | None = None) -> RequestContext:
    """Return the identity that authentication has put into the environment.

    It also becomes the context of this thread, so that log lines name the caller and the lease.
    """
    identity = LeaseRequestContext.from_environ(environ)
    identity.lease_id = shown_id(lease_id)
    return identity


def caller_of(identity: RequestContext, version: Version) -> Caller:
    """Return the caller to pass to the manager."""
    return Caller(
        user_id=identity.user_id,
        project_id=identity.project_id,
        roles=tuple(identity.roles),
        request_id=identity.request_id,
        global_request_id=identity.global_request_id,
        token=identity.auth_token,
        api_version=version,
    )
