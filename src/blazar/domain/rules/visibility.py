"""Resources that usage rules hide from a project, because they are only for others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.lease import ResourceId
from blazar.domain.rules.parts import parts_of
from blazar.domain.rules.rule import OnlyFor, Rule


def hidden_resources(
    rules: Sequence[Rule], availability: Availability, project_id: str | None
) -> Mask | None:
    """Return which resources a project may neither see nor reserve; None without such rules.

    Args:
        rules: The rules on who may see resources of the collection, in their order.
        availability: The resources.
        project_id: The project.
    """
    found: Mask | None = None
    for part in parts_of(rules, availability) if rules else ():
        for rule in part.deciding.values():
            if is_hidden(rule, project_id):
                found = part.which if found is None else found | part.which
    return found


def is_hidden(rule: Rule, project_id: str | None) -> bool:
    """Return whether a rule hides the resources about which it decides from a project."""
    return isinstance(rule.limit, OnlyFor) and project_id not in rule.limit.projects


def hiding_rules(
    rules: Sequence[Rule],
    availability: Availability,
    project_id: str | None,
    chosen: Collection[ResourceId],
) -> list[Rule]:
    """Return the rules that hide some of these resources from a project."""
    wanted = availability.mask_of(chosen)
    return [
        rule
        for part in (parts_of(rules, availability) if rules else ())
        for rule in part.deciding.values()
        if is_hidden(rule, project_id) and np.any(part.which & wanted)
    ]
