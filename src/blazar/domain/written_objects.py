"""Objects that are already JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, overload

JsonObject = Mapping[str, object]
_NEXT_LINE: Final = ",\n"


class WrittenObjects(Sequence[JsonObject]):
    """Objects as the text of one JSON array, which is only parsed if one of them is accessed.

    Code that sends them on uses the text, without parsing and serializing it again. The objects of :meth:`of`
    are on lines of their own, so that some of them can be taken without parsing any.
    """

    def __init__(self, text: str) -> None:
        """Create a list of the objects in this array; the text is ASCII."""
        self.text = text

    @classmethod
    def of(cls, texts: Iterable[str]) -> WrittenObjects:
        """Return a list of these objects, each as ASCII JSON without line breaks."""
        return cls(f"[{_NEXT_LINE.join(texts)}]")

    @cached_property
    def _objects(self) -> Sequence[JsonObject]:
        found: Sequence[JsonObject] = json.loads(self.text)
        return found

    @cached_property
    def _lines(self) -> Sequence[str]:
        """Return the objects as text; nothing if they are not on lines of their own."""
        return self.text[1:-1].split(_NEXT_LINE) if _NEXT_LINE in self.text else ()

    def __len__(self) -> int:
        return len(self._lines or self._objects)

    @overload
    def __getitem__(self, index: int) -> JsonObject: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[JsonObject]: ...

    def __getitem__(self, index: int | slice) -> JsonObject | Sequence[JsonObject]:
        if not self._lines:
            return self._objects[index]
        if isinstance(index, slice):
            return WrittenObjects.of(self._lines[index])
        found: JsonObject = json.loads(self._lines[index])
        return found

    def __iter__(self) -> Iterator[JsonObject]:
        return iter(self._objects)
