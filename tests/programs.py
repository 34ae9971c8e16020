"""The service's programs as processes, for tests."""

from __future__ import annotations

import json
import queue
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import preloaded

DEADLINE_SECONDS = 90
_ANNOUNCEMENT = "blazar is at "


class Program:
    """A running program; ended, by its own process, in :meth:`stop` or :meth:`kill`.

    It is forked from a process that has imported it, unless a *python* is named that starts it from nothing.
    """

    def __init__(self, module: str, *arguments: str, python: str | None = None) -> None:
        self.process: subprocess.Popen[str] | preloaded.Forked = (
            preloaded.Forked(module, arguments)
            if python is None
            else subprocess.Popen(
                [python, "-W", "ignore", "-m", module, *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        self.log: list[str] = []
        """What it has logged so far, on both of its outputs."""
        self._lines: queue.Queue[str] = queue.Queue()
        self._readers = [
            threading.Thread(target=act, daemon=True) for act in (self._read_output, self._read_log)
        ]
        for each in self._readers:
            each.start()

    def line(self) -> str:
        """Return the next line of its output; empty at its end."""
        return self._lines.get(timeout=DEADLINE_SECONDS)

    def has_logged(self, text: str) -> bool:
        """Return whether a line with this text is among what it has logged."""
        return any(text in line for line in list(self.log))

    def stop(self) -> int:
        """Ask it to end; return its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=DEADLINE_SECONDS)

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait(timeout=DEADLINE_SECONDS)

    def close(self) -> None:
        """End it, if it still runs, and read its outputs to the end."""
        if self.process.poll() is None:
            self.kill()
        for each in self._readers:
            each.join(DEADLINE_SECONDS)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def _read_output(self) -> None:
        # To the end: the program would stop at a full pipe.
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
            self.log.append(line)
        self._lines.put("")

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(self.process.stderr)


def run(
    module: str,
    *arguments: str,
    python: str | None = None,
    cwd: Path | None = None,
    seconds: float = DEADLINE_SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Return what a program that ends by itself said; *python* as for :class:`Program`."""
    if python is None:
        return preloaded.run(module, arguments, cwd, seconds)
    return subprocess.run(
        [python, "-W", "ignore", "-m", module, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        cwd=cwd,
    )


def start_standalone(state_dir: Path, *arguments: str, python: str | None = None) -> tuple[Program, str]:
    """Return the embedded service and its URL, which ends in ``/v1``; *python* as for :class:`Program`."""
    options = ["--state-dir", str(state_dir), "--listen-port", "0", *arguments]
    program = Program("blazar.cmd.standalone", *options, python=python)
    # Before it says where it is, it may go on with what it was at when it was killed, and say so.
    lines = iter(program.line, "")
    found = next((line for line in lines if line.startswith(_ANNOUNCEMENT)), None)
    assert found is not None, program.log
    return program, found.split(" at ")[1].strip()


def request(url: str, method: str = "GET", body: object = None, *, version: str = "1.0") -> tuple[int, Any]:
    """Return status and body of an answer in a version of the API."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "OpenStack-API-Version": f"reservation {version}"}
    asked = urllib.request.Request(url, data=data, method=method, headers=headers)
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


def free_port() -> int:
    """Return a port of the loopback interface on which no process listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(check: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> bool:
    """Return whether *check* came true in time."""
    never = threading.Event()
    for _ in range(int(seconds * 20)):
        if check():
            return True
        never.wait(0.05)
    return check()
