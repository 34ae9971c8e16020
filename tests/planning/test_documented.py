"""The page about planning shows what its commands print."""

from __future__ import annotations

from pathlib import Path

from planning.documented import PAGE, recorded, session


def test_the_commands_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    shown = list(recorded(PAGE.read_text()))
    assert len(shown) > 10

    with session(tmp_path) as run:
        printed = [run(command) for command, _ in shown]

    assert printed == [output for _, output in shown]
