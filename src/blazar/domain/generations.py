"""The comparison of the generations of many resources with those of the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class GenerationSummary:
    """A summary of generations; two are equal only if the same resources have the same generations.

    Generations start at a random number and are incremented by one, so that changes cannot cancel each
    other out. If a resource is registered again, the sum stays the same with a probability of 2**-40.
    """

    MODULUS: ClassVar[int] = 2**40

    resources: int
    total: int
    """The sum of all generations, each modulo ``MODULUS`` so that databases can compute it."""
