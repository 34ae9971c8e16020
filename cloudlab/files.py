"""Atomic writes of files that only their owner can read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

Option = str | int | bool | Sequence[str]
Sections = Mapping[str, Mapping[str, Option]]
"""A configuration file: sections, and the options in each; a sequence becomes one line per value."""


def write(path: Path, text: str) -> None:
    """Replace the content of a file atomically: readers see the old or the new content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    new.replace(path)


def write_ini(path: Path, sections: Sections) -> None:
    """Write a configuration file for oslo.config."""
    blocks = [
        "\n".join(
            [f"[{section}]", *(line for name, value in options.items() for line in _lines(name, value))]
        )
        for section, options in sections.items()
    ]
    write(path, "\n\n".join(blocks) + "\n")


def _lines(name: str, value: Option) -> list[str]:
    if isinstance(value, bool):
        return [f"{name} = {str(value).lower()}"]
    if isinstance(value, str | int):
        return [f"{name} = {value}"]
    return [f"{name} = {each}" for each in value]
