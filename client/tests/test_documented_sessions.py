"""The shell sessions in the documentation, run against the embedded service."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import running

ROOT = Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"((?:[^\n]*\\\n> )*[^\n]*\n)(.*)", re.DOTALL)
MASKS = {
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{6})?)?": "<date>",
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}": "<id>",
    # Whether these statuses are printed depends on timing.
    r"(?m)^lease \w+: (PENDING|STARTING|DELETING)\n": "",
}


def recorded(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the commands of a page's session, each with its output as shown."""
    (block,) = re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
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


@pytest.mark.parametrize(("page", "least"), [("README.md", 3), ("doc/quickstart.md", 9)])
def test_the_commands_of_a_page_print_what_it_shows(
    tmp_path: Path, environment: pytest.MonkeyPatch, page: str, least: int
) -> None:
    environment.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    environment.setenv("OS_AUTH_TYPE", "none")
    session = list(recorded(ROOT / page))
    assert len(session) >= least

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
