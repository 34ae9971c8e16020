"""The service's programs as processes, for tests."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

DEADLINE_SECONDS = 30


class Program:
    """A running program; ended, by its own process, in :meth:`stop` or :meth:`kill`."""

    def __init__(self, module: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", module, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log: list[str] = []
        threading.Thread(target=self._read_log, daemon=True).start()

    def line(self) -> str:
        """Return the next line of its output."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def stop(self) -> int:
        """Ask it to end; return its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=DEADLINE_SECONDS)

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait(timeout=DEADLINE_SECONDS)

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(self.process.stderr)


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Return what a program that ends by itself said."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", module, *arguments],
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )


def start_standalone(state_dir: Path, *arguments: str) -> tuple[Program, str]:
    """Return the embedded service and its URL, which ends in ``/v1``."""
    program = Program(
        "blazar.cmd.standalone", "--state-dir", str(state_dir), "--listen-port", "0", *arguments
    )
    line = program.line()
    assert " at " in line, (line, program.log)
    return program, line.split(" at ")[1].strip()


def request(url: str, method: str = "GET", body: object = None) -> tuple[int, Any]:
    """Return status and body of an answer."""
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(
        url, data=data, method=method, headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(asked, timeout=DEADLINE_SECONDS) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or "null")


def fetch(url: str, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Return status and text of an answer."""
    try:
        asked = urllib.request.Request(url, headers=dict(headers or {}))
        with urllib.request.urlopen(asked, timeout=DEADLINE_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def wait_until(check: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> bool:
    """Return whether *check* came true in time."""
    never = threading.Event()
    for _ in range(int(seconds * 20)):
        if check():
            return True
        never.wait(0.05)
    return check()
