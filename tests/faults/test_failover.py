"""Lessees on PostgreSQL with a hot standby that takes over; ``make faults`` runs for longer."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from faults.postgresql_troubles import POSTGRESQL_TROUBLES
from faults.runs import FaultedInstallation, faulted_installation
from installations import require_installation

from rig.wanted import Wanted

LEASES = 20


@pytest.fixture(scope="module")
def faulted() -> Iterator[FaultedInstallation]:
    require_installation("postgresql")
    with faulted_installation(Wanted(database="postgresql", managers=2, has_standby=True)) as faulted:
        yield faulted


@pytest.mark.parametrize("name", POSTGRESQL_TROUBLES)
def test_no_answer_is_lost_when_the_standby_takes_over(faulted: FaultedInstallation, name: str) -> None:
    report = faulted.strike(name, POSTGRESQL_TROUBLES[name], seed=random.randrange(2**31), leases=LEASES)

    print(report)
    assert report.strikes >= 1
