"""Ports that several processes choose at the same time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cloudlab import ports
from cloudlab.errors import LabError

NAMES = [f"port-{number}" for number in range(30)]


def test_ports_of_one_choice_are_adjacent() -> None:
    chosen = list(ports.choose(NAMES).values())

    assert chosen == list(range(chosen[0], chosen[0] + len(NAMES)))


def test_no_port_is_chosen_twice_before_something_listens_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_BLOCKS", 10)
    chosen = [port for _ in range(3) for port in ports.choose(NAMES).values()]

    assert len(set(chosen)) == len(chosen)


def test_another_process_does_not_choose_them(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = ports.choose(NAMES)
    lowest = min(chosen.values())

    program = f"""if True:
        from cloudlab import ports
        ports._LOWEST, ports._BLOCKS = {lowest}, 1
        ports.choose(["one"])
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert LabError.__name__ in done.stderr
