"""The time until the next reconcile pass, as requested by the parts of the present one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(slots=True, kw_only=True)
class Pause:
    """A base of results that may request another pass."""

    retry_after: timedelta | None = None
    """The shortest time that was requested; None if no pass was requested."""

    def retry_within(self, pause: timedelta | None) -> None:
        """Request a pass after this time or sooner; None requests nothing."""
        if pause is not None:
            self.retry_after = pause if self.retry_after is None else min(self.retry_after, pause)
