"""Policy checks of a call, and the order of its refusals.

The owner of a lease is checked in the request that changes the lease: the API states the owner for which
its policy allows the change, and the manager refuses if the lease has another one. Only then does the API
check its policy for the real owner. The responses are the same as if the API read the lease, checked its
policy and then changed the lease.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from blazar.api.call import Call
from blazar.api.lease_rights import authorized_lease
from blazar.api.permissions import Target
from blazar.api.route import Route
from blazar.domain.errors import OwnerMismatch, Unavailable, UnknownMethod
from blazar.ports.manager import JsonObject


def respond(route: Route, call: Call, read_body: Callable[[], JsonObject]) -> object:
    """Return the result of the route's handler for an authorized call with a valid body.

    Raises:
        Forbidden: A rule refuses the caller.
        LeaseNotFound: The lease does not exist.
        Exception: Otherwise, what *read_body* and the handler raise.
    """
    rules = route.rules
    if route.expects_owner and all(
        call.policy.allows(call.identity, each, call.own_target) for each in rules
    ):
        return _respond_for_own(route, call, read_body)
    call = _authorized(route, call)
    return _handled(route, replace(call, body=read_body()))


def _respond_for_own(route: Route, call: Call, read_body: Callable[[], JsonObject]) -> object:
    """Do this for a caller whom the policy allows to change own leases, without reading the lease."""
    try:
        call = replace(call, body=read_body())
    except Exception:
        # A missing or forbidden lease is refused before an invalid body.
        _authorized(route, call)
        raise
    try:
        return route.handler(replace(call, owner=call.own_target))
    except UnknownMethod:
        return route.handler(replace(_authorized(route, call), owner=None))
    except OwnerMismatch as error:
        owner = {key: error.fields[key] for key in call.own_target}
    _require(route.rules, call, owner)
    return _handled(route, replace(call, owner=owner))


def _handled(route: Route, call: Call) -> object:
    """Return the handler's result for a call that is authorized for the owner of its lease, if any.

    Raises:
        Unavailable: During an upgrade, the request went to a manager that does not know it yet.
    """
    try:
        return route.handler(call)
    except UnknownMethod as error:
        if call.owner is None:
            raise Unavailable(
                "A manager has an older version, which does not know this request; it had no effect"
            ) from error
        # An older manager checks no owner. The policy allows the change for the owner that was read.
        return route.handler(replace(call, owner=None))


def _authorized(route: Route, call: Call) -> Call:
    """Return the call with the lease that its path names, after checking the rules of the route.

    Raises:
        Forbidden: A rule refuses the caller.
        LeaseNotFound: The lease does not exist.
    """
    if not route.about_lease:
        _require(route.rules[:1], call, call.own_target)
        if route.looked_up_by is not None:
            route.looked_up_by(call)
        _require(route.rules[1:], call, call.own_target)
        return call
    lease = authorized_lease(call, call.params["lease_id"], route.rules)
    owner = {key: lease[key] for key in call.own_target}
    return replace(call, lease=lease, owner=owner if route.expects_owner else None)


def _require(rules: Sequence[str], call: Call, target: Target) -> None:
    for rule in rules:
        call.policy.require(call.identity, rule, target)
