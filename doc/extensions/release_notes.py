"""The directive ``release-notes``, which renders the notes in ``releasenotes/notes`` with reno.

reno's own directive looks for the release of a note in the git history. It raises in a source tree without
git and in a clone with a shallow history. Here all notes of the tree belong to the release of the tree.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from reno.config import Config
from reno.formatter import format_report
from reno.loader import Loader
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import blazar

ROOT = Path(__file__).resolve().parents[2]


class NotesInTree(Loader):  # type: ignore[misc]  # reno has no types
    """Loader of the notes in the source tree, all of one release."""

    def _load_data(self) -> None:
        paths = sorted(Path(self._reporoot, self._notespath).glob("*.yaml"))
        # reno reads this instead of the history; it is what its cache file has.
        self._cache = {"file-contents": {each.name: yaml.safe_load(each.read_text()) for each in paths}}
        self._scanner_output = {blazar.__version__: [(each.name, "") for each in paths]}
        self._tags_to_dates: dict[str, float] = {}


class ReleaseNotes(SphinxDirective):
    """Insert the release notes, a section for each kind of note."""

    def run(self) -> list[nodes.Node]:
        """Return the rendered notes."""
        config = Config(str(ROOT))
        for path in Path(ROOT, config.notespath).glob("*.yaml"):
            self.env.note_dependency(str(path))
        with NotesInTree(config) as notes:
            text = format_report(notes, config, notes.versions, show_source=False)
        lines = StringList(text.splitlines(), source=config.notespath)
        return self.parse_text_to_nodes(lines, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, and hide reno's message that it has no configuration file."""
    logging.getLogger("reno").setLevel(logging.WARNING)
    app.add_directive("release-notes", ReleaseNotes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
