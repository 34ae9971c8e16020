"""Mail addresses of users, from Keystone."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from blazar.booking.context import Context
from blazar.domain.errors import CloudError
from blazar.domain.mail_addresses import domain_of
from blazar.ports.notices import DeliveryFailed

LIFETIME: Final = timedelta(minutes=10)
"""Time for which an address is cached; a disabled user may still get mail for this time."""
_MOST_CACHED: Final = 10_000


@dataclass(slots=True)
class Addresses:
    """The addresses of users, cached; thread-safe."""

    context: Context
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: dict[str, tuple[datetime, str | None]] = field(default_factory=dict)

    def find(self, user_id: str) -> str | None:
        """Return the address of a user; None if the user has no usable one or is disabled.

        Raises:
            DeliveryFailed: Keystone does not respond.
        """
        now = self.context.clock.now()
        with self._lock:
            known = self._known.get(user_id)
        if known is not None and timedelta(0) <= now - known[0] < LIFETIME:
            return known[1]
        try:
            user = self.context.cloud.users.find_user(user_id) if user_id else None
        except CloudError as error:
            raise DeliveryFailed(
                "Keystone does not return the address of the user", is_silent=True, is_of_site=True
            ) from error
        email = user.email if user is not None and user.is_enabled else None
        address = email if email is not None and domain_of(email) is not None else None
        with self._lock:
            if len(self._known) >= _MOST_CACHED:
                self._known.clear()
            self._known[user_id] = now, address
        return address
