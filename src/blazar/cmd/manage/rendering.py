"""Output of operators' commands: lines for people, or one JSON document for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

TEXT: Final = "text"
JSON: Final = "json"


def add_format(parser: Any) -> None:
    """Add ``-f`` to a command that lists or shows something."""
    parser.add_argument(
        "-f",
        "--format",
        choices=(TEXT, JSON),
        default=TEXT,
        help=f"print lines for people, or one JSON document; {TEXT}",
    )


def present(arguments: Any, document: object, lines: Iterable[str]) -> None:
    """Print *lines*, or only *document* if the command line selects JSON.

    Args:
        arguments: The arguments of the command; if they have no format, text is printed.
        document: Dicts, lists and values, with instants as ``datetime``.
        lines: The same content as text; read only if it is printed.
    """
    if getattr(arguments, "format", TEXT) == JSON:
        write_json(document)
        return
    for line in lines:
        print(line)


def write_json(document: object) -> None:
    """Print dicts, lists and values, with instants as ``datetime``, as one JSON document."""
    print(json_text(document))


def json_text(document: object) -> str:
    """Return dicts, lists and values, with instants as ``datetime``, as one JSON document."""
    return json.dumps(document, indent=2, default=_encoded)


def shown(at: datetime) -> str:
    """Return an instant in UTC, to the second."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def printable(text: str) -> str:
    """Return a string chosen by a lessee, with control characters replaced."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def _encoded(value: object) -> str:
    """Return an instant in ISO 8601, in UTC. Raises TypeError for other types."""
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} cannot be written as JSON")
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
