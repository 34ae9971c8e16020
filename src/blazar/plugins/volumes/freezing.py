"""Keeping the volumes of a reservation for some time after its end, out of the lessee's reach.

Without access to the type, the lessee can no longer create, extend, clone or snapshot volumes, but can still
see and delete them. Cinder also allows attaching them, so they are detached again in each round.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from blazar.domain.wording import first_few
from blazar.plugins.contract import Done, Outcome, Waiting
from blazar.plugins.volumes.detaching import cancel_transfers, detach
from blazar.ports.cloud import Cloud

_LONGEST_PAUSE: Final = timedelta(minutes=10)
"""The longest time until attached and deleted volumes are noticed."""


def freeze_volumes(cloud: Cloud, type_id: str, now: datetime, until: datetime) -> Outcome:
    """Detach the volumes of a type, and keep them until an instant; without volumes, return Done.

    A server that was booted from a volume keeps it, because its deletion could delete the volume.
    """
    volumes = cloud.block_storage.list_volumes(type_id)
    if not volumes:
        return Done()
    cancel_transfers(cloud, volumes)
    obstacles = {each.id: detach(cloud, each, deletes_servers=False) for each in volumes}
    reason = f"volumes are frozen until {until:%Y-%m-%d %H:%M} UTC: {first_few(sorted(obstacles))}"
    return Waiting(min(until - now, _LONGEST_PAUSE), "; ".join(filter(None, [reason, *obstacles.values()])))
