"""Faults in PostgreSQL with a hot standby."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from faults.troubles import Targets, Trouble

from rig import postgresql_pair
from rig.postgresql import Server


def fail_over(targets: Targets) -> None:
    """Kill the primary and promote the standby; then make the former primary the standby."""
    plan = targets.installation.plan
    while targets.pause(3, 6):
        targets.strikes += 1
        failed = targets.installation.service(postgresql_pair.primary(plan))
        (standby,) = (each.name for each in targets.installation.databases if each is not failed)
        failed.kill()
        targets.pause(0, 3)
        postgresql_pair.promote(plan, standby)
        targets.pause(1, 3)
        assert isinstance(failed, Server)
        postgresql_pair.add_standby(plan, failed, standby)


POSTGRESQL_TROUBLES: Final[Mapping[str, Trouble]] = {"database-failover": fail_over}
"""The troubles by name; they require a standby."""
