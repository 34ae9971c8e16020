"""The guide for the first hour, as far as it can be checked without a lab."""

from __future__ import annotations

import subprocess

import pytest

from cloudlab.tests.first_hour import RENAMED, blocks_of_the_guide

BLOCKS = blocks_of_the_guide()


def test_names_that_a_test_replaces_are_in_the_guide() -> None:
    text = "".join(BLOCKS)

    assert [name for name, _ in RENAMED if name not in text] == []
    for name, here in RENAMED:
        text = text.replace(name, here)
    # The service's own programs and files keep their names.
    assert " blazar\n" not in text
    assert "freepool" not in text


@pytest.mark.parametrize("block", BLOCKS)
def test_a_shell_can_read_each_block(block: str) -> None:
    done = subprocess.run(["bash", "-n", "-c", block], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
