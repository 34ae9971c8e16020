"""Columns that store a resource's health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import sqlalchemy as sa

from blazar.db.tables import resources
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


def is_reservable(resource_id: sa.Column[Any], expected: bool) -> sa.ColumnElement[bool]:
    """Return the condition that the resource of this id can be reserved now, or that it cannot."""
    healthy = sa.exists().where(resources.c.id == resource_id, resources.c.health == Health.HEALTHY.value)
    return healthy if expected else sa.not_(healthy)
