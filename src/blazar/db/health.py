"""Columns that store a resource's health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId


class Reservable(Protocol):
    """The common attributes of resources of every collection."""

    @property
    def id(self) -> ResourceId:
        """Return its id."""

    @property
    def diagnosis(self) -> Diagnosis:
        """Return its health."""


def diagnosis_columns(diagnosis: Diagnosis) -> Mapping[str, str | None]:
    """Return the columns of ``resources`` for a diagnosis."""
    return {"health": diagnosis.health.value, "problem": diagnosis.problem or None}


def resource_row(resource: Reservable, collection: str, generation: int) -> Mapping[str, object]:
    """Return the row of ``resources`` for a new resource."""
    return {
        "id": resource.id,
        "collection": collection,
        "generation": generation,
        **diagnosis_columns(resource.diagnosis),
    }


def read_diagnosis(health: str, problem: str | None) -> Diagnosis:
    """Return the diagnosis stored in these columns."""
    return Diagnosis(health=Health(health), problem=problem or "")
