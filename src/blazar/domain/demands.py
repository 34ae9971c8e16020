"""Numbers for the demands of bookings, so that arrays can refer to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Numbers
from blazar.domain.capacity import Demand

NO_DEMAND = -1
"""The number for bookings of whole resources."""


class Demands:
    """Gives each distinct demand a number, and knows its amounts by number."""

    def __init__(self) -> None:
        self._demands: list[Demand] = []
        self._codes: dict[Demand, int] = {}
        self._amounts: dict[str, Numbers] = {}

    def code(self, demand: Demand | None) -> int:
        """Return the number of a demand."""
        if demand is None:
            return NO_DEMAND
        code = self._codes.get(demand)
        if code is None:
            code = self._codes[demand] = len(self._demands)
            self._demands.append(demand)
        return code

    def of(self, code: int) -> Demand:
        """Return the demand with this number."""
        return self._demands[code]

    def amounts(self, resource_class: str) -> Numbers:
        """Return the amount of a class that one slot needs, by number."""
        known = self._amounts.get(resource_class)
        done = 0 if known is None else len(known)
        if known is None or done < len(self._demands):
            new = [dict(each.amounts).get(resource_class, 0) for each in self._demands[done:]]
            known = np.concatenate([known if known is not None else (), new]).astype(np.int64)
            self._amounts[resource_class] = known
        return known

    def keep_only(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Forget all demands except those with these numbers; return the new number of each."""
        kept, renumbered = np.unique(codes, return_inverse=True)
        self._demands = [self._demands[each] for each in kept.tolist()]
        self._codes = {each: code for code, each in enumerate(self._demands)}
        self._amounts.clear()
        return renumbered.astype(np.int32)
