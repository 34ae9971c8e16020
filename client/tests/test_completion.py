"""Completion of the values of options, from the catalogue of the service."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from blazarclient import completion_words

from .conftest import Run

CATALOGUE: dict[str, Any] = {
    "resource_types": [
        {"resource_type": "physical:host", "keys": ["min", "max"]},
        {"resource_type": "software:licence", "keys": None},
    ],
    "properties": [
        {"property": "gpu", "values": [{"value": "a100"}, {"value": "A100, 80 GB"}, {"value": None}]},
        {"property": "ssd", "values": [{"value": True}]},
    ],
    "availability_zones": [{"name": "nova"}],
}


class Service:
    """A service that answers, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> dict[str, Any]:
        self.asked += 1
        return CATALOGUE


def fail() -> dict[str, Any]:
    raise OSError("unreachable")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("--resource-type", ["physical:host", "software:licence"]),
        ("--availability-zone", ["nova"]),
        ("--same", ["gpu", "ssd"]),
        ("--spread", ["gpu", "ssd"]),
        ("--group-by", ["gpu", "ssd"]),
        ("--prefer", ["gpu=a100", "ssd=true"]),
        ("requirement", ["gpu=a100", "ssd=true"]),
    ],
)
def test_the_values_of_options_are_those_of_the_catalogue(
    tmp_path: Path, name: str, expected: list[str]
) -> None:
    assert completion_words.words(name, Service(), tmp_path) == expected


def test_a_reservation_has_types_and_keys(tmp_path: Path) -> None:
    found = completion_words.words("--reservation", Service(), tmp_path)

    assert {"resource_type=physical:host", "min=", "max=", "same=gpu", "spread=ssd"} <= set(found)


def test_the_service_is_asked_once_in_ten_minutes(tmp_path: Path) -> None:
    service = Service()
    for name in ("--same", "--spread"):
        completion_words.words(name, service, tmp_path)
    (kept,) = tmp_path.iterdir()
    assert (service.asked, kept.stat().st_mode & 0o777) == (1, 0o600)

    os.utime(kept, (time.time() - 601,) * 2)
    completion_words.words("--same", service, tmp_path)

    assert service.asked == 2


def test_another_project_has_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    completion_words.words("--same", service, tmp_path)

    monkeypatch.setenv("OS_PROJECT_NAME", "another")
    completion_words.words("--same", service, tmp_path)

    assert service.asked == 2


def test_a_service_that_fails_is_asked_again_a_minute_later(tmp_path: Path) -> None:
    service = Service()
    assert completion_words.words("--same", fail, tmp_path) == []
    assert completion_words.words("--same", service, tmp_path) == []
    (kept,) = tmp_path.iterdir()

    os.utime(kept, (time.time() - 61,) * 2)

    assert completion_words.words("--same", service, tmp_path) == ["gpu", "ssd"]


def test_a_damaged_or_read_only_cache_does_no_harm(tmp_path: Path) -> None:
    completion_words.words("--same", Service(), tmp_path)
    (kept,) = tmp_path.iterdir()
    kept.write_text("{")

    assert completion_words.words("--same", Service(), tmp_path) == ["gpu", "ssd"]
    assert completion_words.words("--same", Service(), kept / "no-folder") == ["gpu", "ssd"]


def test_the_command_asks_the_service(embedded: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(completion_words, "_ANSWER_SECONDS", 60)

    found = embedded("complete", "--values=--resource-type").out.split()

    assert "physical:host" in found
    assert [each.name.partition("-")[0] for each in (tmp_path / "blazar").iterdir()] == ["catalogue"]


LINES = [
    ("--same g", "gpu"),
    ("--same ", "gpu ssd"),
    ("--reservation resource_type=ph", "physical:host"),
    ("--reservation min=1,ma", "1,max="),
    ("--sp", "--spread"),
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(("line", "proposed"), LINES)
def test_bash_proposes_values(tmp_path: Path, line: str, proposed: str) -> None:
    """The stub splits words at spaces, as bash's completion library is told to."""
    completion_words.words("--same", Service(), tmp_path / "blazar")
    script = f"""
    _get_comp_words_by_ref() {{
      prev="${{given[-2]}}"; cur="${{given[-1]}}"; words=("${{given[@]}}"); cword=$((${{#given[@]}} - 1))
    }}
    blazar() {{ {sys.executable} -m blazarclient.shell "$@"; }}
    source <(blazar complete)
    given=(blazar lease-create)
    line='{line}'
    given+=("${{line%% *}}"); [[ "$line" == *" "* ]] && given+=("${{line#* }}")
    _blazar_values
    echo "${{COMPREPLY[*]}}"
    """
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}

    done = subprocess.run(
        ["bash", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == proposed
