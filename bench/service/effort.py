"""The amount of measurements."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Sizes and numbers of repetitions."""

    sizes: tuple[int, ...]
    """Numbers of hosts."""
    bookings: tuple[int, ...]
    """Numbers of future allocations of each host, ascending."""
    runs: int
    """Number of runs; each gives one value, and a line has their median, minimum and maximum."""
    requests: int
    """Number of requests of one kind in one run."""
    counted: int
    """Number of requests whose statements are counted."""
    crowd_seconds: int
    due_leases: int
    seconds_to_create_them: int
    with_end: bool
    """Whether to wait for the end of the leases that start in one minute."""
    big_lease_hosts: int


WHOLE = Effort(
    sizes=(100, 1_000, 10_000),
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
    runs=1,
    requests=5,
    counted=3,
    crowd_seconds=5,
    due_leases=10,
    seconds_to_create_them=10,
    with_end=False,
    big_lease_hosts=20,
)
