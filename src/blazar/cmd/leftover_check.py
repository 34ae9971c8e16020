"""A check of leftovers in the cloud, before upgrades and whenever the cloud is checked."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Final

from oslo_upgradecheck import upgradecheck

from blazar.booking.context import Context
from blazar.domain.wording import first_few
from blazar.reconcile.sweep import find_leftovers

_SHOWN: Final = 10
"""Maximum number of leftovers named in one message."""
_LOOKS: Final = 5
_PAUSE: Final = timedelta(seconds=2)
_NEVER: Final = threading.Event()


def check_leftovers(context: Context) -> upgradecheck.Result:
    """Return a warning if the cloud has items of the service that belong to no reservation.

    While managers work, items can belong to a lease that is not stored yet, or that is just being deleted.
    Only an item that is found again and again for some seconds is a leftover.
    """
    found = set(find_leftovers(context))
    for _ in range(_LOOKS - 1):
        if not found:
            break
        context.clock.wait(_NEVER, _PAUSE)
        found &= set(find_leftovers(context))
    if not found:
        return upgradecheck.Result(upgradecheck.Code.SUCCESS, "The cloud has no leftovers")
    return upgradecheck.Result(
        upgradecheck.Code.WARNING,
        f"Leftovers in the cloud: {first_few(sorted(found), _SHOWN)}"
        "; managers remove them, blazar-manage sweep --dry-run lists them",
    )
