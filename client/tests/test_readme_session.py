"""The session that the README shows is what really happens."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import running

README = Path(__file__).resolve().parents[2] / "README.md"
COMMAND = re.compile(r"((?:[^\n]*\\\n> )*[^\n]*\n)(.*)", re.DOTALL)
MASKS = {
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{6})?)?": "<date>",
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}": "<id>",
    # Which of these one sees depends on when one looks.
    r"(?m)^lease \w+: (PENDING|STARTING|DELETING)\n": "",
}


def recorded() -> Iterator[tuple[str, str]]:
    """Yield the commands of the session, each with what it is said to print."""
    (block,) = re.findall(r"^```console\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)
    for part in block.split("$ ")[1:]:
        found = COMMAND.fullmatch(part)
        assert found is not None, part
        command, printed = found.groups()
        if not command.startswith("export "):
            yield command.replace("\\\n> ", ""), printed


def masked(text: str) -> str:
    for pattern, mask in MASKS.items():
        text = re.sub(pattern, mask, text)
    return text


def test_its_commands_print_what_it_shows(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    environment.setenv("OS_AUTH_TYPE", "none")
    session = list(recorded())
    assert len(session) > 8

    with running(tmp_path, "") as url:
        environment.setenv("OS_ENDPOINT", url.removesuffix("/v1"))
        printed = [
            subprocess.run(
                ["bash", "-c", command],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            ).stdout
            for command, _said in session
        ]

    assert [masked(each) for each in printed] == [masked(said) for _command, said in session]
