"""Changes of a lease's reservations, made from the arguments of ``lease update``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blazarclient import exception, reservations, utils
from blazarclient.base import Record, Records
from blazarclient.i18n import _
from blazarclient.reservation_keys import CHOSEN_TYPES, CREATE_RESERVATION_KEYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Changes in the form of the arguments; :meth:`resolved` returns them in the form of requests."""

    changed: Sequence[Record] = ()
    """The reservations to change or remove, each with an id, a prefix of one, a resource type, or neither."""
    added: Sequence[Record] = ()
    """New reservations."""
    released: Sequence[str] = ()
    """Names or ids of resources to release."""
    on_conflict: str | None = None
    """The treatment of resources that other leases have in the new period; None if nothing was said."""

    def __bool__(self) -> bool:
        """Return whether reservations change; conflicts alone only matter for a change of dates."""
        return bool(self.changed or self.added or self.released or self.on_conflict)

    @property
    def are_enough(self) -> bool:
        """True if the request changes something without new dates."""
        return bool(self.changed or self.added or self.released)

    def resolved(self, leases: Any, lease_id: str) -> list[Record]:
        """Return the elements of ``reservations`` in a request.

        Args:
            leases: The manager of leases of the library, which is only asked if ids are missing.
            lease_id: Id of the lease.

        Raises:
            IncorrectLease: A change matches no reservation of the lease or more than one, or the lease does
                not hold a resource.
        """
        found = list(self.changed)
        if self.on_conflict or need_lease(found):
            lease = leases.get(lease_id)
            found = with_ids(found, lease)
            found += self._of_conflicts(lease, found)
        if self.released:
            releases = releasing(self.released, leases.resources(lease_id))
            taken = {each["id"] for each in releases}
            found = [each for each in found if not (each["id"] in taken and "on_conflict" in each)] + releases
        return [*found, *self.added]

    def _of_conflicts(self, lease: Record, changed: Iterable[Record]) -> list[Record]:
        """Return a change for each reservation with chosen resources that does not change otherwise."""
        if self.on_conflict is None:
            return []
        apart = {each["id"] for each in changed}
        return [
            {"id": each["id"], "on_conflict": self.on_conflict}
            for each in lease["reservations"]
            if each["resource_type"] in CHOSEN_TYPES and each["id"] not in apart
        ]


def parse(arguments: argparse.Namespace) -> Changes:
    """Return the changes of reservations that the arguments of ``lease update`` describe.

    Raises:
        IncorrectLease: A key is unknown or missing, or a value is invalid.
        DuplicatedLeaseParameters: A key of a reservation occurs twice.
    """
    return Changes(
        changed=[
            *map(reservations.to_update, arguments.reservations),
            *map(_removal, arguments.remove_reservations),
        ],
        added=[*map(reservations.to_create, arguments.add_reservations)],
        released=arguments.releases,
        on_conflict=arguments.on_conflict,
    )


def _removal(id_or_type: str) -> Record:
    """Return the removal of a reservation that is named by its id, a prefix of it, or its type."""
    key = "resource_type" if ":" in id_or_type or id_or_type in CREATE_RESERVATION_KEYS else "id"
    return {key: id_or_type, "remove": True}


def releasing(names: Iterable[str], resources: Records) -> list[Record]:
    """Return the release of resources, an element for each reservation that holds some of them.

    Args:
        names: Names or ids of resources.
        resources: The reservations and what they hold, as the service lists them.

    Raises:
        IncorrectLease: No reservation holds a resource of this name or id.
    """
    chosen: dict[str, list[str]] = {}
    for name in names:
        holders = [
            (each["reservation_id"], held["id"])
            for each in resources
            for held in each["resources"]
            if name in (held["id"], held["name"])
        ]
        if not holders:
            known = ", ".join(held["name"] for each in resources for held in each["resources"])
            raise exception.IncorrectLease(
                _("The lease does not hold %(name)s; it holds: %(known)s")
                % {"name": name, "known": known or _("nothing")}
            )
        for reservation_id, resource_id in holders:
            chosen.setdefault(reservation_id, []).append(resource_id)
    return [{"id": each, "release": list(dict.fromkeys(ids))} for each, ids in chosen.items()]


def need_lease(changes: Iterable[Record]) -> bool:
    """Return whether a change has no id, or only a prefix of one."""
    return any("id" not in each or re.fullmatch(utils.SHORT_ID, each["id"]) for each in changes)


def with_ids(changes: Iterable[Record], lease: Record) -> list[Record]:
    """Return *changes*, each with the id of a reservation of *lease*.

    A change may contain a prefix of an id. Without an id, it applies to the only reservation of its
    ``resource_type`` or, without a type, to the only reservation of the lease.

    Raises:
        IncorrectLease: A change matches no reservation of the lease, or more than one.
    """
    return [{**each, "id": _reservation_id(each, lease)} for each in changes]


def _reservation_id(change: Mapping[str, Any], lease: Record) -> str:
    given, kind = change.get("id"), change.get("resource_type")
    all_of_them = lease["reservations"]
    if given is None:
        found = [each["id"] for each in all_of_them if kind in (None, each["resource_type"])]
    else:
        found = [each["id"] for each in all_of_them if each["id"].startswith(given.lower())]
        found = [given] if given in found or not re.fullmatch(utils.SHORT_ID, given) else found
    if len(found) != 1:
        known = "; ".join(f"id={each['id']} ({each['resource_type']})" for each in all_of_them) or _("none")
        raise exception.IncorrectLease(
            _("Add the id of the reservation to change, as in id=<id>,max=4; the lease has: %s") % known
        )
    return str(found[0])
