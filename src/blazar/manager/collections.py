"""The collections with tables of their own that this distribution has."""

from __future__ import annotations

from typing import Final

from blazar.booking.context import OwnCollection
from blazar.plugins.floatingips.collection import FLOATING_IPS
from blazar.plugins.hosts.collection import HOSTS

COLLECTIONS: Final[tuple[OwnCollection, ...]] = (HOSTS, FLOATING_IPS)
