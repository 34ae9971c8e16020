"""Policy checks for the owner of a lease."""

from __future__ import annotations

from collections.abc import Sequence

from blazar.api.call import Call
from blazar.domain.errors import LeaseNotFound
from blazar.ports.manager import JsonObject


def authorized_lease(call: Call, lease_id: str, rules: Sequence[str]) -> JsonObject:
    """Return a lease, after checking rules for its owner.

    The first rule refuses a lease of another project. If a lease does not exist, callers who may read
    their own leases get a 404, and others a 403.

    Raises:
        Forbidden: A rule refuses the caller.
        LeaseNotFound: The lease does not exist.
    """
    try:
        lease = call.manager.get_lease(call.caller, lease_id)
    except LeaseNotFound:
        call.policy.require(call.identity, rules[0], call.own_target)
        raise
    owner = {key: lease[key] for key in call.own_target}
    for rule in rules:
        call.policy.require(call.identity, rule, owner)
    return lease
