"""The reservations and periods that users ask for."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from faults.lessees import FLAVOR, FLAVORS, HOSTS, INSTANCES, MINUTE

from bench.day.pace import QUIET, Day

FLOATING_IPS: Final = "virtual:floatingip"
SHARES: Final[Mapping[str, int]] = {
    HOSTS: 35,
    INSTANCES: 20,
    FLAVORS: 18,
    FLOATING_IPS: 8,
    "network": 8,
    "virtual:volume": 8,
    "physical:storage": 3,
}
"""How often each resource type is wanted, of 100 times."""
RACKS: Final = 20
_LENGTHS: Final = ((50, 10, 60), (35, 60, 240), (15, 240, 600))
"""Weights, and the least and most minutes, of the lengths of leases."""
_MARGIN: Final = 3 * MINUTE


def resource_type_of(chance: random.Random) -> str:
    """Return a resource type."""
    return chance.choices(list(SHARES), list(SHARES.values()))[0]


def reservation_of(kind: str, chance: random.Random, network_id: str) -> Mapping[str, Any]:
    """Return a reservation of a resource type."""
    rack = f'["==", "$rack", "r{chance.randrange(RACKS)}"]' if chance.random() < 0.2 else ""
    match kind:
        case "physical:host":
            sizes = {"hypervisor_properties": "", "resource_properties": rack}
            return {"resource_type": kind, "min": 1, "max": chance.randint(1, 4), **sizes}
        case "virtual:instance" | "flavor:instance":
            size = {"vcpus": chance.randint(1, 8), "memory_mb": 1024, "disk_gb": 10}
            return {
                "resource_type": kind,
                **(size if kind == INSTANCES else {"flavor_id": FLAVOR.id}),
                "amount": chance.randint(1, 4),
                "affinity": chance.choice((None, None, None, False)),
                "resource_properties": rack,
            }
        case "virtual:floatingip":
            return {
                "resource_type": kind,
                "network_id": network_id,
                "amount": chance.randint(1, 2),
                "required_floatingips": [],
            }
        case "network":
            return {"resource_type": kind, "network_name": "day", "amount": chance.randint(1, 2)}
        case "virtual:volume":
            return {
                "resource_type": kind,
                "gibibytes": chance.randint(1, 20),
                "amount": chance.randint(1, 3),
            }
    return {"resource_type": kind, "min": 1, "max": 1}


def length_of(kind: str, chance: random.Random) -> timedelta:
    """Return the length of a lease; storage pools are few, so whole ones are wanted briefly."""
    weights = [weight for weight, _, _ in _LENGTHS]
    _, least, most = chance.choices(_LENGTHS, weights)[0] if kind != "physical:storage" else (1, 10, 20)
    return chance.randint(least, most) * MINUTE


def period_of(day: Day, length: timedelta, chance: random.Random) -> tuple[datetime | None, datetime]:
    """Return a start, None for "now", and an end; no start or end lies in the quiet time after the day."""
    turn, minute = chance.random(), day.minute()
    if turn < 0.35:
        return None, end_of(day, minute, length)
    if turn < 0.6:
        start = minute + chance.randint(2, 60) * MINUTE
    elif turn < 0.9:
        start = minute + chance.random() * max(day.end - minute, _MARGIN)
    else:
        start = day.end + QUIET + chance.randint(1, 2000) * MINUTE
    start = day.outside_quiet(start.replace(second=0, microsecond=0))
    return start, end_of(day, start, length)


def end_of(day: Day, start: datetime, length: timedelta) -> datetime:
    """Return the end of a lease, which is shortened to the day if it would end soon after it."""
    end = start + length
    latest = day.end - MINUTE
    if day.end - MINUTE < end < day.end + QUIET + MINUTE:
        return latest if start + _MARGIN < latest else end + QUIET + length
    return end


def shown(instant: datetime) -> str:
    """Return an instant in the format of API v1."""
    return f"{instant:%Y-%m-%d %H:%M}"
