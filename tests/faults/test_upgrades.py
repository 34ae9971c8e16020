"""The upgrade from the previous release while lessees work; ``make upgrades`` runs for longer."""

from __future__ import annotations

import random
from typing import Final

from faults.procedures import Command, Restart, read_page
from faults.upgrade_runs import upgrade_once
from faults.upgrades import CONTRACTION
from installations import require_installation, require_previous_release

from rig.wanted import Database

DATABASE: Final[Database] = "mariadb"
CHECK: Final = ("blazar-status", "upgrade", "check")
LESSEES, PAUSE_SECONDS = 2, 0.25
"""More requests would keep the processes from starting, which most of the time is spent on."""
MIXED_SECONDS = 5


def test_the_page_says_how_to_upgrade_and_how_to_return() -> None:
    page = read_page()

    assert page.expand == (
        Command(CHECK, 2),
        Command(("blazar-db-manage", "upgrade", "head"), 0),
        Command(CHECK, 1),
        Restart(is_managers_first=True, release="present"),
    )
    assert page.contract == (Command(CONTRACTION, 0), Command(CHECK, 0))
    assert page.back == (Restart(is_managers_first=False, release="previous"),)


def test_an_upgrade_under_load_keeps_every_promise() -> None:
    require_installation(DATABASE)
    require_previous_release()

    report, upgrade = upgrade_once(
        DATABASE,
        seed=random.randrange(2**31),
        processes=2,
        mixed_seconds=MIXED_SECONDS,
        lessees=LESSEES,
        pause_seconds=PAUSE_SECONDS,
    )

    print(report, upgrade, sep="\n")
    assert report.strikes == 1
    assert upgrade.codes == [2, 1, 0]
