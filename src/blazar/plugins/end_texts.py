"""Sentences about the end of a reservation, as its lessee reads them before it comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

_HOURS_OF_DAY: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class EndText:
    """A sentence about what happens at the end, in the present tense.

    It is complete without its lease, which may have reservations of several types.
    """

    text: str
    key: str | None = None
    """The key of a reservation that decides about it; None if it always happens."""
    value: str | None = None
    """The value of the key with which it happens."""
    is_before_end: bool = False
    """Whether it happens at the before-end event; it does not happen if the lease has no such event."""


NEUTRAL: Final = EndText(text="Everything that the reservation holds is released.")
"""The sentence for types whose plugins do not declare any."""


def chosen(texts: Iterable[EndText], keys: Mapping[str, object]) -> tuple[EndText, ...]:
    """Return those sentences that apply to a reservation.

    Args:
        texts: All sentences of the type.
        keys: The keys of the reservation.
    """
    return tuple(each for each in texts if each.key is None or keys.get(each.key) == each.value)


def render_hours(duration: timedelta) -> str:
    """Return a duration of full hours as text, such as ``36 hours`` or ``7 days``."""
    hours = duration // timedelta(hours=1)
    is_days = hours % _HOURS_OF_DAY == 0
    count, unit = (hours // _HOURS_OF_DAY, "day") if is_days else (hours, "hour")
    return f"{count} {unit}{'' if count == 1 else 's'}"
