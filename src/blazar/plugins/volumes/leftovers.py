"""Leftovers of storage reservations: volume types, with their volumes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.domain.lease import is_canonical_id
from blazar.plugins.contract import Waiting
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.plugins.volumes.names import reservation_of
from blazar.plugins.volumes.teardown import remove_type, remove_volumes


class VolumeTypeLeftovers:
    """Private volume types with the service's mark. Only administrators can set it."""

    name: ClassVar[str] = "volumetype"

    def __init__(self, sweep: Sweep) -> None:
        self._cloud = sweep.cloud

    def candidates(self) -> Mapping[str, str | None]:
        """Return the reservations of the types, by type."""
        owners = {each.id: reservation_of(each) for each in self._cloud.block_storage.list_types()}
        return {key: owner for key, owner in owners.items() if owner is not None and is_canonical_id(owner)}

    def remove(self, name: str) -> bool:
        """Withdraw all access to a type, and delete it with its volumes; they may take several sweeps."""
        storage = self._cloud.block_storage
        for project_id in sorted(storage.list_type_access(name)):
            with suppress(CloudNotFound):
                storage.remove_type_access(name, project_id)
        for step in (remove_volumes, remove_type):
            outcome = step(self._cloud, name)
            if isinstance(outcome, Waiting):
                raise CloudConflict(outcome.reason)
        return True


if TYPE_CHECKING:

    def _witness(kind: type[VolumeTypeLeftovers]) -> type[LeftoverKind]:
        return kind
