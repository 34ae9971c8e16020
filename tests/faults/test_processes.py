"""Faults in the service's own processes while lessees are at work; ``make faults`` runs for longer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

import pytest
from faults.measures import MEASURES
from faults.runs import FaultedInstallation, faulted_installation
from faults.troubles import TROUBLES
from installations import require_installation

from rig.wanted import Database, Wanted

LEASES = 12
DATABASE: Final[Database] = "mariadb"


@pytest.fixture(scope="module")
def faulted() -> Iterator[FaultedInstallation]:
    require_installation(DATABASE)
    with faulted_installation(Wanted(database=DATABASE, managers=3)) as faulted:
        yield faulted


@pytest.mark.parametrize("name", TROUBLES)
def test_every_lease_is_as_it_was_promised_whatever_strikes(faulted: FaultedInstallation, name: str) -> None:
    seed = random.randrange(2**31)

    report = faulted.strike(name, TROUBLES[name], seed=seed, leases=LEASES)

    print(report)
    assert report.strikes >= 1
    assert report.notices > 0


@pytest.mark.parametrize("name", MEASURES)
def test_others_go_on_with_what_a_manager_was_at(faulted: FaultedInstallation, name: str) -> None:
    measure, promised_seconds = MEASURES[name]

    seconds = measure(faulted)

    print(f"{name}: {seconds:.1f} s")
    assert seconds <= promised_seconds
