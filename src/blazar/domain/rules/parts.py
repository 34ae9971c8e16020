"""Resources in parts, each with the rules that decide about its resources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.requirements import Requirement
from blazar.domain.rules.rule import Kind, Rule
from blazar.domain.rules.times import Deciding


@dataclass(frozen=True, slots=True)
class Part:
    """Resources about which the same rules decide."""

    deciding: Deciding
    which: Mask
    """The resources, by position."""


def parts_of(rules: Iterable[Rule], availability: Availability) -> Sequence[Part]:
    """Return all resources in parts, by the first rule of each kind whose requirement they satisfy.

    Args:
        rules: Rules that cover the reservation, in their order.
        availability: The resources.
    """
    parts = [Part({}, availability.matching(Requirement()))]
    of_kinds: dict[Kind, list[Rule]] = {}
    for rule in rules:
        of_kinds.setdefault(rule.kind, []).append(rule)
    for own in of_kinds.values():
        parts = [each for part in parts for each in _split(part, own, availability)]
    return parts


def _split(part: Part, rules: Sequence[Rule], availability: Availability) -> Iterable[Part]:
    """Return the parts of a part by the first of some rules of one kind."""
    rest = part.which
    for rule in rules:
        which = rest & availability.matching(rule.scope.resources)
        if np.any(which):
            yield Part({**part.deciding, rule.kind: rule}, which)
            rest = rest & ~which
    if np.any(rest):
        yield Part(part.deciding, rest)
