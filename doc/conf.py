"""How Sphinx builds this documentation: ``make doc``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "extensions"))

project = "Blazar"
html_title = "Blazar, OpenStack's reservation service"
extensions = ["myst_parser", "oslo_config.sphinxext", "oslo_policy.sphinxext", "from_the_code"]
exclude_patterns = ["extensions", "_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {"fixed_sidebar": True, "page_width": "70em", "body_max_width": "50em"}
html_show_copyright = False
templates_path: list[str] = []
