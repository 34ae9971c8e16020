"""How a resource's health is stored."""

from __future__ import annotations

from collections.abc import Mapping

from blazar.domain.health import Diagnosis, Health


def diagnosis_columns(diagnosis: Diagnosis) -> Mapping[str, str | None]:
    """Return the columns of ``resources`` that a diagnosis has."""
    return {"health": diagnosis.health.value, "problem": diagnosis.problem or None}


def read_diagnosis(health: str, problem: str | None) -> Diagnosis:
    """Return the diagnosis that is in these columns."""
    return Diagnosis(health=Health(health), problem=problem or "")
