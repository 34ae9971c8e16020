"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Sizes, and how often."""

    sizes: tuple[int, ...]
    """Hosts."""
    bookings: tuple[int, ...]
    """Future allocations of each host, rising."""
    runs: int
    """Each gives one value; a line has their median, least and most."""
    requests: int
    """Of one kind in one run."""
    counted: int
    """Requests of which the statements are counted."""
    crowd_seconds: int
    due_leases: int
    seconds_to_create_them: int
    with_end: bool
    """Whether the leases that start in one minute are awaited until they end."""
    big_lease_hosts: int


WHOLE = Effort(
    sizes=(100, 1_000, 5_000),
    bookings=(0, 10, 100),
    runs=3,
    requests=20,
    counted=7,
    crowd_seconds=30,
    due_leases=200,
    seconds_to_create_them=20,
    with_end=True,
    big_lease_hosts=300,
)
QUICK = Effort(
    sizes=(100, 300),
    bookings=(10,),
    runs=2,
    requests=5,
    counted=3,
    crowd_seconds=5,
    due_leases=10,
    seconds_to_create_them=3,
    with_end=False,
    big_lease_hosts=20,
)
