"""Measured usage of processes equals their actual usage."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from rig.usage import own_processor_seconds, processor_seconds, resident_mebibytes

MEBIBYTE = 2**20
GONE = 2**22 + 1
"""A number above the highest process id on Linux."""


def test_memory_that_is_filled_is_held() -> None:
    before = resident_mebibytes([os.getpid()])

    filled = b"x" * (64 * MEBIBYTE)

    assert 60 < resident_mebibytes([os.getpid()]) - before < 80
    assert len(filled) == 64 * MEBIBYTE


def test_work_of_a_process_and_of_its_ended_children_counts() -> None:
    own = [os.getpid()]
    before, worked = processor_seconds(own), time.process_time()

    while time.process_time() - worked < 0.3:
        pass
    after_work, own_work = processor_seconds(own), own_processor_seconds(os.getpid())
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)

    assert after_work - before >= 0.25
    assert processor_seconds(own) - after_work >= 0.25
    assert own_processor_seconds(os.getpid()) - own_work < 0.25


def test_what_is_gone_uses_nothing() -> None:
    assert (resident_mebibytes([GONE]), processor_seconds([GONE])) == (0, 0)
