"""Errors about flavors. The table of HTTP statuses in ``blazar.api.faults`` lists them too."""

from __future__ import annotations

from collections.abc import Sequence

from blazar.domain.errors import Conflict, NotFound


class FlavorNotFound(NotFound):
    """Nova has no flavor with this id, or the lessee may not see it."""

    code = "flavor-not-found"

    def __init__(self, flavor_id: str) -> None:
        super().__init__(f"Flavor not found: flavor_id {flavor_id}", flavor_id=flavor_id)


class FlavorNotReservable(Conflict):
    """The flavor has extra specs that forbid a reservation; ``extra_specs`` lists them."""

    code = "flavor-not-reservable"

    def __init__(self, flavor_id: str, reason: str, extra_specs: Sequence[str]) -> None:
        """Create the error; *reason* completes "extra specs that"."""
        super().__init__(
            f"Flavor {flavor_id} cannot be reserved because of extra specs that {reason}:"
            f" {', '.join(extra_specs)}",
            flavor_id=flavor_id,
            extra_specs=list(extra_specs),
        )
