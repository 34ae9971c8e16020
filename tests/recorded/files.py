"""The recording: one JSON file per story, formatted for readable diffs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from app.http_env import Json
from recorded.story import Story

FOLDER = Path(__file__).parent / "answers"
COMMAND = "make recording"
_WIDTH = 200
_INDENT = " "


def path_of(story: Story) -> Path:
    """Return the path of the file with a story's responses."""
    return FOLDER / f"{story.name}.json"


def recorded(story: Story) -> list[Json]:
    """Return the recorded responses of a story; an empty list if there are none."""
    path = path_of(story)
    found: list[Json] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return found


def record(story: Story, answers: Sequence[Json]) -> None:
    """Replace the recorded responses of a story."""
    FOLDER.mkdir(exist_ok=True)
    path_of(story).write_text(rendered(answers), encoding="utf-8")


def rendered(value: object, indent: str = "") -> str:
    """Return a JSON value as text: on one line if it fits, otherwise one line per part."""
    text = json.dumps(value, ensure_ascii=False)
    is_story = not indent
    if not isinstance(value, dict | list) or not value or (len(indent + text) <= _WIDTH and not is_story):
        return _encodable(text)
    inner = indent + _INDENT
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {rendered(each, inner)}" for key, each in value.items()]
    else:
        parts = [f"{inner}{rendered(each, inner)}" for each in value]
    first, last = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return f"{first}\n" + ",\n".join(parts) + f"\n{indent}{last}" + ("\n" if is_story else "")


def difference(before: Iterable[Json], after: Iterable[Json]) -> str:
    """Return a unified diff of two recordings of a story; empty if they are equal."""
    old, new = (rendered(list(each)).splitlines() for each in (before, after))
    lines = difflib.unified_diff(old, new, "recorded", "answered", n=6, lineterm="")
    return "\n".join(lines)


def _encodable(text: str) -> str:
    """Return JSON with lone surrogates escaped, because UTF-8 cannot encode them."""
    return "".join(f"\\u{ord(each):04x}" if "\ud800" <= each <= "\udfff" else each for each in text)
