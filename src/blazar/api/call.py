"""One request as handlers see it: authenticated, allowed, its body checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oslo_context.context import RequestContext

from blazar.api.policies import Policy, Target
from blazar.ports.manager import Caller, JsonObject, Manager
from blazar.telemetry.trail import LogContext, shown_id

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a handler needs to answer."""

    manager: Manager
    policy: Policy
    identity: RequestContext
    caller: Caller
    base_url: str
    """Scheme, host and mount prefix, without a slash at the end."""
    params: Mapping[str, str] = field(default_factory=dict)
    """The variable parts of the path."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Of a parameter given more than once, the first."""
    body: JsonObject = field(default_factory=dict)
    lease: JsonObject = field(default_factory=dict)
    """The lease that the path names, as it was before the handler ran."""

    @property
    def is_admin(self) -> bool:
        """Return whether the caller satisfies the policy rule ``admin``."""
        return self.policy.is_admin(self.identity)

    @property
    def own_target(self) -> Target:
        """Return the caller's own project and user, as policy rules are asked about them."""
        return {"project_id": self.caller.project_id, "user_id": self.caller.user_id}


Handler = Callable[[Call], object]
"""Takes a call and returns the answer's JSON value; None for an answer without a body."""


def identity_of(environ: WSGIEnvironment, lease_id: str | None = None) -> RequestContext:
    """Return the identity that the authentication in front has put into the environment.

    It is also remembered for this thread, so that log lines say whose request it is, and for which lease.
    """
    identity = LogContext.from_environ(environ)
    identity.lease_id = shown_id(lease_id)
    return identity


def caller_of(identity: RequestContext) -> Caller:
    """Return what the manager is told about who asks."""
    return Caller(
        user_id=identity.user_id,
        project_id=identity.project_id,
        roles=tuple(identity.roles),
        request_id=identity.request_id,
        global_request_id=identity.global_request_id,
        token=identity.auth_token,
    )
