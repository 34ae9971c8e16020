"""Configuration of Sphinx for ``make doc``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "extensions"))

project = "Blazar"
extensions = [
    "myst_parser",
    "oslo_config.sphinxext",
    "oslo_policy.sphinxext",
    "from_the_code",
    "release_notes",
]
exclude_patterns = ["extensions", "_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Blazar"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_show_copyright = False
templates_path: list[str] = []
