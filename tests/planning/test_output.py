"""Plans and effects of changes in files."""

from __future__ import annotations

from pathlib import Path

import pytest
from app.http_env import HttpEnv
from planning.running import reservable, run


@pytest.mark.parametrize("line", ["plan --history-days 1", "what-if --add 1 --like p1"])
@pytest.mark.parametrize("form", ["markdown", "json", "html"])
def test_a_file_has_what_would_be_printed(env: HttpEnv, tmp_path: Path, line: str, form: str) -> None:
    reservable(env, "p1", "p2")
    path = tmp_path / "result"
    printed = run(env, f"{line} -f {form}")

    assert run(env, f"{line} -f {form} -o {path}") == ""

    assert path.read_text(encoding="utf-8") == printed != ""


def test_a_file_that_cannot_be_written(env: HttpEnv, tmp_path: Path) -> None:
    reservable(env, "p1", "p2")

    with pytest.raises(OSError, match="directory"):
        run(env, f"plan -o {tmp_path}")
