"""Deletion of the trusts that the existing service created and never deleted; this service needs none.

Their ids come from columns that lessees could write to. So a trust is deleted only if it gives access to the
service's own user.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from blazar.domain.errors import CloudNotFound, CloudRefused
from blazar.ports.identity import Trusts
from blazar.ports.old_service import OldDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class OldTrust:
    """A trust, and the objects it was created for, such as ``lease 5b0c…`` or ``host 12``."""

    id: str
    made_for: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result for a trust. If ``is_problem``, the trust still exists, and ``text`` says why."""

    trust: OldTrust
    text: str
    is_problem: bool = False


def list_trusts(old: OldDatabase) -> tuple[OldTrust, ...]:
    """Return the trusts named in a database of the existing service, by id."""
    found: dict[str, list[str]] = defaultdict(list)
    for lease in old.leases:
        if lease.trust_id:
            found[lease.trust_id].append(f"lease {lease.id}")
    for host in old.hosts:
        if host.trust_id:
            found[host.trust_id].append(f"host {host.id}")
    return tuple(OldTrust(id=key, made_for=tuple(found[key])) for key in sorted(found))


def delete_trusts(old: OldDatabase, trusts: Trusts, trustee_id: str | None = None) -> Iterator[Outcome]:
    """Delete the trusts named in a database of the existing service; yield the result for each.

    Args:
        old: The existing database.
        trusts: Keystone.
        trustee_id: Delete only trusts that give access to this user; None for the calling user.

    Raises:
        CloudUnavailable: Keystone does not answer; run the deletion again.
    """
    trustee_id = trustee_id or trusts.own_user_id()
    for each in list_trusts(old):
        yield _delete(each, trusts, trustee_id)


def _delete(old: OldTrust, trusts: Trusts, trustee_id: str) -> Outcome:
    try:
        trust = trusts.find_trust(old.id)
        if trust is None:
            return Outcome(trust=old, text="is already gone")
        if trust.trustee_user_id != trustee_id:
            text = f"gives access to user {trust.trustee_user_id}, and is not deleted"
            return Outcome(trust=old, text=text, is_problem=True)
        trusts.delete_trust(old.id)
    except CloudNotFound:
        return Outcome(trust=old, text="is already gone")
    except CloudRefused as error:
        return Outcome(trust=old, text=error.message, is_problem=True)
    return Outcome(trust=old, text="deleted")
