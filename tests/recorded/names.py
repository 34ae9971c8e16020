"""Stable names for the values that differ from run to run."""

from __future__ import annotations

import re
from collections import Counter

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAME = re.compile(r"<[a-z_]+-\d+>")
_NUMBERS = frozenset({"aggregate_id"})
"""Keys of integers that the cloud chooses."""


class UnknownName(LookupError):
    """A request uses a name that no earlier response contained, because a response has changed."""


class Names:
    """Names of ids, by what they identify and in order of appearance: ``<lease-1>``, ``<reservation-1>``.

    Only UUIDs and the ids of aggregates are volatile. The ids of hosts are not: the simulated cloud numbers
    its hypervisors.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def learn(self, kind: str, value: str) -> str:
        """Return the name of a value; a value that is new gets a new name."""
        if value not in self._names:
            self._counts[kind] += 1
            name = f"<{kind}-{self._counts[kind]}>"
            self._names[value], self._values[name] = name, value
        return self._names[value]

    def hide(self, value: object, owner: str = "id", key: str = "") -> object:
        """Return a JSON value of a response with names instead of ids.

        Args:
            value: The value.
            owner: The kind of an object, from which its ``id`` gets its name.
            key: The key under which the value was found.
        """
        if isinstance(value, dict):
            # The object's id first, then sorted, so that names do not depend on the order of keys.
            keys = sorted(value, key=lambda each: (each != "id", each))
            return {each: self.hide(value[each], key or owner, each) for each in keys}
        if isinstance(value, list):
            return [self.hide(each, owner, key.removesuffix("s")) for each in value]
        kind = owner if key == "id" else key.removesuffix("_id") if key.endswith("_id") else "id"
        if key in _NUMBERS and type(value) is int:
            return self.learn(kind, f"{key} {value}")
        if isinstance(value, str):
            return _UUID.sub(lambda match: self.learn(kind, match[0]), value)
        return value

    def reveal(self, value: object) -> object:
        """Return a JSON value of a request with ids instead of names."""
        if isinstance(value, dict):
            return {key: self.reveal(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.reveal(each) for each in value]
        return self.reveal_text(value) if isinstance(value, str) else value

    def reveal_text(self, text: str) -> str:
        """Return a text with ids instead of names. Raises UnknownName."""
        return _NAME.sub(lambda match: self._value(match[0]), text)

    def _value(self, name: str) -> str:
        if name not in self._values:
            raise UnknownName(f"no answer so far contains {name}")
        return self._values[name]
