"""The languages of mail."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

LANGUAGE: Final = "en"
"""The language of the distribution's templates."""
_NAME: Final = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")


def list_languages(template_folder: Path | None) -> tuple[str, ...]:
    """Return the languages for which there are templates: those of the site's folder, and English.

    Raises:
        OSError: The folder cannot be read.
    """
    own = () if template_folder is None else tuple(template_folder.iterdir())
    named = {each.name for each in own if each.is_dir() and _NAME.fullmatch(each.name)}
    return tuple(sorted(named | {LANGUAGE}))
