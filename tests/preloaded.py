"""Programs of the service, forked from a process that has imported all of them.

Importing a program takes about a second of processor time, more than most of them then need. Each one still
runs in a process of its own, with its own arguments, environment and outputs, as if it had been started with
``python -m``.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, TextIO

COMMANDS: Final = tuple(
    f"blazar.cmd.{name}" for name in ("api", "db_manage", "manage", "manager", "standalone", "status")
)
"""The modules that can be run."""
_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload(["runpy", *COMMANDS])


def run(
    module: str, arguments: Sequence[str], cwd: Path | None, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Return what a program said that ends by itself.

    Raises:
        subprocess.TimeoutExpired: It did not end in time, and was killed.
    """
    process = Forked(module, arguments, cwd)
    with process.stdout, process.stderr, ThreadPoolExecutor(2) as pool:
        outputs = [pool.submit(each.read) for each in (process.stdout, process.stderr)]
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        printed, logged = (each.result() for each in outputs)
    return subprocess.CompletedProcess(process.args, code, printed, logged)


class Forked:
    """A running program, with the part of ``subprocess.Popen`` that tests need."""

    def __init__(self, module: str, arguments: Sequence[str], cwd: Path | None = None) -> None:
        self.args = [module, *arguments]
        self.stdout, stdout = _pipe()
        self.stderr, stderr = _pipe()
        # As a daemon it is killed if this process ends first.
        self._process = _FORKING.Process(
            target=_execute,
            args=(module, arguments, cwd or Path.cwd(), dict(os.environ), (stdout, stderr)),
            daemon=True,
        )
        self._process.start()
        stdout.close()
        stderr.close()

    @property
    def pid(self) -> int:
        """Return its process id."""
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        """Return its exit code once it has ended.

        Raises:
            subprocess.TimeoutExpired: It still runs after *timeout* seconds.
        """
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would."""
        self.send_signal(signal.SIGKILL)


def _pipe() -> tuple[TextIO, Connection]:
    """Return the end of a pipe to read text from, and the end that a process can be given."""
    reader, writer = _FORKING.Pipe(duplex=False)
    with reader:
        return os.fdopen(os.dup(reader.fileno())), writer


def _execute(
    module: str,
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    outputs: Sequence[Connection],
) -> None:
    """Become the program."""
    # What was imported is no garbage; collections would scan it, and copy its pages.
    gc.freeze()
    for number, pipe in enumerate(outputs, start=1):
        os.dup2(pipe.fileno(), number)
        pipe.close()
    sys.stdout = os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    sys.argv = [module, *arguments]
    # It is the main module now.
    sys.modules.pop(module, None)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()
