"""A check of leftovers in the cloud, before upgrades and whenever the cloud is checked."""

from __future__ import annotations

from typing import Final

from oslo_upgradecheck import upgradecheck

from blazar.booking.context import Context
from blazar.domain.wording import first_few
from blazar.reconcile.sweep import find_leftovers

_SHOWN: Final = 10
"""Maximum number of leftovers named in one message."""


def check_leftovers(context: Context) -> upgradecheck.Result:
    """Return a warning if the cloud has items of the service that belong to no reservation."""
    found = find_leftovers(context)
    if not found:
        return upgradecheck.Result(upgradecheck.Code.SUCCESS, "The cloud has no leftovers")
    return upgradecheck.Result(
        upgradecheck.Code.WARNING,
        f"Leftovers in the cloud: {first_few(found, _SHOWN)}"
        "; managers remove them, blazar-manage sweep --dry-run lists them",
    )
