"""Faults between the cloud and its clients.

The fault script of the simulated cloud (``blazar.cloud.simulated.faults``) makes operations of the ports fail
inside one process. These rules, in the same form, make HTTP calls fail: calls are selected by route, and a
lost reply is a connection that is cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from blazar.cloud.simulated import Moment


class FaultKind(StrEnum):
    """Kinds of faults."""

    STATUS = "status"
    """The call is not executed and gets an error status."""
    CUT = "cut"
    """The call is not executed and the connection is cut."""
    LOSE_REPLY = "lose_reply"
    """The call is executed and the connection is cut."""
    LATE = "late"
    """The call is delayed before or after its execution; the client may time out before the response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault rule. Raises ValueError with the name of a field that has an invalid value.

    It counts the calls that match ``service``, ``method`` and ``route``, which are patterns with ``*``, and
    applies to every *every*-th of them, at most *times* times.
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
    """Whether a delay comes before or after the execution of the call."""

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
        """Return the rule for a JSON object with the fields as keys. Raises ValueError if it is invalid."""
        try:
            fields = dict(body)
            fields["kind"] = FaultKind(fields["kind"])
            fields["when"] = Moment(fields.get("when", Moment.AFTER))
            return cls(**fields)
        except (KeyError, TypeError) as error:
            raise ValueError(f"no fault: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that :meth:`from_json` accepts."""
        return asdict(self)

    def matches(self, service: str, method: str, route: str) -> bool:
        """Return whether the rule counts a call."""
        patterns = ((service, self.service), (method, self.method), (route, self.route))
        return all(fnmatchcase(each, pattern) for each, pattern in patterns)

    def delay_at(self, moment: Moment) -> float:
        """Return the delay of a call at this moment, in seconds."""
        return self.delay_seconds if self.kind is FaultKind.LATE and self.when is moment else 0
