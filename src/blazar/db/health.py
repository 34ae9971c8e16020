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
        """Return the resource's id."""

    @property
    def diagnosis(self) -> Diagnosis:
        """Return the resource's health."""


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


def resource_filters(
    resource_id: sa.Column[Any], equal: Mapping[sa.Column[Any], object | None], is_reservable_now: bool | None
) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a filtered list of resources.

    Args:
        resource_id: The id in the table of the collection.
        equal: The required value of each column; None for any value.
        is_reservable_now: Whether the resources can be reserved now; None for either.
    """
    filters: list[sa.ColumnElement[bool]] = [
        column == value for column, value in equal.items() if value is not None
    ]
    if is_reservable_now is not None:
        filters.append(_is_reservable(resource_id, is_reservable_now))
    return filters


def _is_reservable(resource_id: sa.Column[Any], expected: bool) -> sa.ColumnElement[bool]:
    """Return the condition that the resource of this id can be reserved now, or that it cannot."""
    healthy = sa.exists().where(resources.c.id == resource_id, resources.c.health == Health.HEALTHY.value)
    return healthy if expected else sa.not_(healthy)
