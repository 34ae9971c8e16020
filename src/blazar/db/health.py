"""How a resource's health is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId


class Reservable(Protocol):
    """What a host and a floating IP have in common."""

    @property
    def id(self) -> ResourceId:
        """Return its id."""

    @property
    def diagnosis(self) -> Diagnosis:
        """Return its health."""


def diagnosis_columns(diagnosis: Diagnosis) -> Mapping[str, str | None]:
    """Return the columns of ``resources`` that a diagnosis has."""
    return {"health": diagnosis.health.value, "problem": diagnosis.problem or None}


def resource_row(resource: Reservable, collection: str) -> Mapping[str, object]:
    """Return the row of ``resources`` that a new host or floating IP has."""
    return {
        "id": resource.id,
        "collection": collection,
        "generation": 0,
        **diagnosis_columns(resource.diagnosis),
    }


def read_diagnosis(health: str, problem: str | None) -> Diagnosis:
    """Return the diagnosis that is in these columns."""
    return Diagnosis(health=Health(health), problem=problem or "")
