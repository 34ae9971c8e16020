"""What goes wrong between the cloud and whoever asks it.

The script of the simulated cloud (``blazar.cloud.simulated.faults``) fails operations of the ports inside
of one process. These rules, of the same make, fail HTTP calls: they are picked by route, and a reply that is
lost is a connection that is cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from blazar.cloud.simulated import Moment


class FaultKind(StrEnum):
    """What goes wrong with a call."""

    STATUS = "status"
    """It is not done, and answered with a status."""
    CUT = "cut"
    """It is not done, and the connection is cut."""
    LOSE_REPLY = "lose_reply"
    """It is done, and the connection is cut."""
    LATE = "late"
    """It is held up before or after it is done; a client may have given up when the answer comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that goes wrong. Raises ValueError, naming the field, for values without sense.

    It counts the calls that ``service``, ``method`` and ``route`` match, which are patterns with ``*``,
    and strikes at every *every*-th of them, at most *times* times.
    """

    kind: FaultKind
    service: str = "*"
    method: str = "*"
    route: str = "*"
    every: int = 1
    times: int | None = None
    status: int = 503
    delay_seconds: float = 0
    when: Moment = Moment.AFTER
    """On which side of its effect a late call is held up."""

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"every: must be at least 1, not {self.every}")
        if self.times is not None and self.times < 1:
            raise ValueError(f"times: must be at least 1, not {self.times}")
        if not 400 <= self.status <= 599:
            raise ValueError(f"status: must lie between 400 and 599, not {self.status}")
        if self.delay_seconds < 0:
            raise ValueError("delay_seconds: must not be negative")

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Fault:
        """Return the rule that a JSON object describes, by the names of the fields. Raises ValueError."""
        try:
            fields = dict(body)
            fields["kind"] = FaultKind(fields["kind"])
            fields["when"] = Moment(fields.get("when", Moment.AFTER))
            return cls(**fields)
        except (KeyError, TypeError) as error:
            raise ValueError(f"no fault: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`from_json` understands."""
        return asdict(self)

    def matches(self, service: str, method: str, route: str) -> bool:
        """Return whether it counts a call."""
        patterns = ((service, self.service), (method, self.method), (route, self.route))
        return all(fnmatchcase(each, pattern) for each, pattern in patterns)

    def delay_at(self, moment: Moment) -> float:
        """Return for how many seconds a call is held up at this moment."""
        return self.delay_seconds if self.kind is FaultKind.LATE and self.when is moment else 0
