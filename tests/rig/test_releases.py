"""The previous release is installed from its commit, beside this one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from installations import require_previous_release

from blazar.db.schema import RELEASED
from rig import releases

QUESTION = "import blazar, blazar.db.schema as schema; print(blazar.__file__, schema.head_revision())"


def test_the_programs_of_the_previous_release_import_its_code() -> None:
    require_previous_release()
    programs = releases.programs("previous")

    answer = subprocess.run(
        [str(programs / "python"), "-c", QUESTION], capture_output=True, text=True, check=True
    )

    path, head = answer.stdout.split()
    assert Path(path).is_relative_to(programs.parent)
    assert head == RELEASED[-1]


def test_a_clone_without_the_previous_release_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "PREVIOUS_COMMIT", "0" * 40)

    with pytest.raises(releases.MissingReleaseError, match="git fetch --unshallow"):
        releases.programs("previous")
