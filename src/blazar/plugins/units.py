"""Requests for units of one size on resources with capacity: slots of hosts, parts of storage pools."""

from __future__ import annotations

from typing import Protocol, TypeVar

from blazar.domain.capacity import Demand
from blazar.domain.expressions import render
from blazar.domain.need import Need
from blazar.domain.requirements import Requirement
from blazar.plugins.capabilities import RequiresProperties, StatesNeed
from blazar.plugins.contract import JsonObject


class UnitSpec(Protocol):
    """The common part of the specs of such requests."""

    @property
    def amount(self) -> int:
        """Return the number of units."""

    @property
    def affinity(self) -> bool | None:
        """Return true for all on one resource, false for all on different ones, None for any."""

    @property
    def demand(self) -> Demand:
        """Return the demand of one unit."""

    @property
    def requirement(self) -> Requirement:
        """Return the requirement for a resource, from ``resource_properties`` of requests."""


UnitSpecT = TypeVar("UnitSpecT", bound=UnitSpec)


class RequestsUnits(RequiresProperties[UnitSpecT], StatesNeed[UnitSpecT]):
    """Both capabilities, for a spec with ``amount``, ``affinity`` and ``resource_properties``."""

    def requirement(self, spec: UnitSpecT) -> Requirement:
        """Return the requirement of the expression."""
        return spec.requirement

    def change_requirement(self, requirement: Requirement) -> JsonObject:
        """Return the expression."""
        return {"resource_properties": render(requirement)}

    def need(self, spec: UnitSpecT) -> Need:
        """Return the number of units."""
        return Need(
            least=spec.amount,
            most=spec.amount,
            requirement=spec.requirement,
            demand=spec.demand,
            is_together=spec.affinity is True,
            is_apart=spec.affinity is False,
        )

    def change_need(self, units: int) -> JsonObject:
        """Return a smaller number of units."""
        return {"amount": units}
