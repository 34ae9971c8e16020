"""Manual pages: each page of ``etc/man`` becomes one; ``make man`` builds them.

The heading is the name of a command with its section of the manual and what it is for, as in
``blazar-api(8) -- serve the REST API``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

_HEADING = re.compile(r"# (?P<name>[a-z-]+)\((?P<section>\d)\) -- (?P<purpose>.+)\n")


def list_pages(app: Sphinx, config: Config) -> None:
    """Set the pages of the manual, and which of them is the first."""
    found = []
    for path in sorted(Path(app.srcdir).glob("*.md")):
        heading = _HEADING.match(path.read_text())
        if heading is None:
            raise ConfigError(f"{path.name} has no heading of the form '# name(8) -- purpose'")
        name, section, purpose = heading.group("name", "section", "purpose")
        found.append((path.stem, name, purpose, "", int(section)))
    config.man_pages = found
    config.root_doc = found[0][0]
    config.myst_enable_extensions = {"deflist"}
    # Manual pages have no common table of contents.
    config.suppress_warnings = ["toc.not_included"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("config-inited", list_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
