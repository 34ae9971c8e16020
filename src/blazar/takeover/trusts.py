"""The trusts that the existing service made and never deleted (behaviour 8; nothing here needs them).

Their ids stand in columns that lessees could write to (behaviour 12, 27). So a trust is deleted only if it
gives rights to the service's own user.
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
    """A trust, and what it was made for: as in ``lease 5b0c…`` or ``host 12``."""

    id: str
    made_for: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a trust; a *problem* says why it is still there."""

    trust: OldTrust
    text: str
    is_problem: bool = False


def list_trusts(old: OldDatabase) -> tuple[OldTrust, ...]:
    """Return the trusts that a database of the existing service names, by id."""
    found: dict[str, list[str]] = defaultdict(list)
    for lease in old.leases:
        if lease.trust_id:
            found[lease.trust_id].append(f"lease {lease.id}")
    for host in old.hosts:
        if host.trust_id:
            found[host.trust_id].append(f"host {host.id}")
    return tuple(OldTrust(id=key, made_for=tuple(found[key])) for key in sorted(found))


def delete_trusts(old: OldDatabase, trusts: Trusts, trustee_id: str | None = None) -> Iterator[Outcome]:
    """Delete the trusts that a database of the existing service names; yield what became of each.

    Args:
        old: The database.
        trusts: Keystone.
        trustee_id: The user to whom those that are deleted give rights; None for who asks.

    Raises:
        CloudUnavailable: Keystone does not answer; it can be done again.
    """
    trustee_id = trustee_id or trusts.own_user_id()
    for each in list_trusts(old):
        yield _delete(each, trusts, trustee_id)


def _delete(old: OldTrust, trusts: Trusts, trustee_id: str) -> Outcome:
    try:
        trust = trusts.find_trust(old.id)
        if trust is None:
            return Outcome(trust=old, text="is gone already")
        if trust.trustee_user_id != trustee_id:
            text = f"gives rights to user {trust.trustee_user_id}, and is left alone"
            return Outcome(trust=old, text=text, is_problem=True)
        trusts.delete_trust(old.id)
    except CloudNotFound:
        return Outcome(trust=old, text="is gone already")
    except CloudRefused as error:
        return Outcome(trust=old, text=error.message, is_problem=True)
    return Outcome(trust=old, text="deleted")
