"""Leases of several projects in a new embedded service, so that its calendar shows something."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from blazar.app.leases.create import create_lease
from blazar.booking.context import Context
from blazar.domain.dates import format_date
from blazar.domain.errors import BlazarError
from blazar.ports.manager import Caller

_OWN: Final = "admin"
"""User and project of a caller without authentication."""
_GPU: Final = '["==", "$gpu", "a100"]'


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleLease:
    """A lease for hosts."""

    name: str
    project: str
    start_hours: int
    """Hours from the start of the service; 0 for at once."""
    hours: int
    hosts: int = 1
    requirement: str = ""


EXAMPLE_LEASES: Final[tuple[ExampleLease, ...]] = (
    ExampleLease(name="image training", project=_OWN, start_hours=0, hours=30, requirement=_GPU),
    ExampleLease(name="course: operating systems", project="teaching", start_hours=0, hours=4, hosts=2),
    ExampleLease(name="weather model", project="climate", start_hours=6, hours=60, hosts=3),
    ExampleLease(name="benchmark", project=_OWN, start_hours=26, hours=8, hosts=2),
    ExampleLease(name="protein folding", project="biology", start_hours=36, hours=48, requirement=_GPU),
    ExampleLease(name="course: operating systems", project="teaching", start_hours=48, hours=4, hosts=2),
    ExampleLease(name="image training, again", project=_OWN, start_hours=90, hours=24, requirement=_GPU),
    ExampleLease(name="network study", project="systems", start_hours=72, hours=72, hosts=4),
    ExampleLease(name="course: operating systems", project="teaching", start_hours=96, hours=4, hosts=2),
    ExampleLease(name="all hands on the lab", project="systems", start_hours=168, hours=12, hosts=8),
    ExampleLease(name="weather model", project="climate", start_hours=192, hours=96, hosts=3),
    ExampleLease(name="release test", project=_OWN, start_hours=200, hours=10, hosts=2),
)


def create_example_leases(context: Context) -> None:
    """Create the leases, unless the service has any lease.

    Raises:
        ValueError: A lease cannot be created, for example because the hosts are not the example hosts.
    """
    with context.store.read() as transaction:
        if transaction.leases.list():
            return
    now = context.clock.now()
    for each in EXAMPLE_LEASES:
        start = now + timedelta(hours=each.start_hours)
        body = {
            "name": each.name,
            "start_date": format_date(start) if each.start_hours else "now",
            "end_date": format_date(start + timedelta(hours=each.hours)),
            "reservations": [
                {
                    "resource_type": "physical:host",
                    "min": each.hosts,
                    "max": each.hosts,
                    "hypervisor_properties": "",
                    "resource_properties": each.requirement,
                }
            ],
        }
        caller = Caller(user_id=each.project, project_id=each.project, roles=("member",))
        try:
            create_lease(context, caller, body)
        except BlazarError as error:
            raise ValueError(f"--example-leases: {each.name}: {error}") from error
