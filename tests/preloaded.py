"""Commands of the service, forked from a process that has imported all of them.

Importing a command takes over a second of processor time, more than most commands then need. Each one still
runs in a process of its own, with its own arguments, environment and outputs, as if it had been started with
``python -m``.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

COMMANDS: Final = tuple(
    f"blazar.cmd.{name}" for name in ("api", "db_manage", "manage", "manager", "standalone", "status")
)
"""The modules that can be run."""
_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload(["runpy", *COMMANDS])


def run(
    module: str, arguments: Sequence[str], cwd: Path | None, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Return what a command said that ends by itself.

    Raises:
        subprocess.TimeoutExpired: It did not end in time, and was killed.
    """
    with tempfile.TemporaryDirectory() as folder:
        outputs = Path(folder, "stdout"), Path(folder, "stderr")
        process = _FORKING.Process(
            target=_execute, args=(module, arguments, cwd or Path.cwd(), dict(os.environ), outputs)
        )
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired([module, *arguments], seconds)
        printed, logged = (each.read_text() for each in outputs)
        return subprocess.CompletedProcess([module, *arguments], process.exitcode, printed, logged)


def _execute(
    module: str, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], outputs: Sequence[Path]
) -> None:
    """Become the command."""
    for number, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
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
