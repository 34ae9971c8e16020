"""Commands that run to completion."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from cloudlab.errors import LabError
from cloudlab.folder import tail
from cloudlab.waiting import INTERRUPTED

_LOOK_EVERY_SECONDS = 0.2


def plain_environment(**more: str) -> dict[str, str]:
    """Return an environment without variables that configure services.

    In particular, it has no proxies: all services are on this machine.
    """
    kept = {name: os.environ[name] for name in ("HOME", "USER", "TMPDIR") if name in os.environ}
    path = os.environ.get("PATH", "")
    return {"LANG": "C.UTF-8", **kept, "PATH": f"{path}:/usr/sbin:/usr/bin:/sbin:/bin", **more}


def run(
    command: Sequence[str],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    ends_with_us: bool = True,
) -> None:
    """Run a command and wait for its end.

    Args:
        command: The program and its arguments.
        log: The file to which its output is appended.
        environment: Its complete environment; None for this process's environment.
        ends_with_us: Whether to kill it when this process is interrupted or killed; otherwise, wait for it.

    Raises:
        LabError: The command failed (the message has the end of its log), or this process was interrupted.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    bound = ("setpriv", "--pdeathsig", "TERM", "--") if ends_with_us else ()
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*bound, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=None if environment is None else dict(environment),
        )
        code = _code(process, ends_with_us)
    if INTERRUPTED.is_set():
        raise LabError(f"{Path(command[0]).name}: interrupted")
    if code:
        raise LabError(f"{' '.join(command[:4])} … failed with exit code {code}\n{tail(log)}")


def _code(process: subprocess.Popen[bytes], ends_with_us: bool) -> int:
    while True:
        try:
            return process.wait(_LOOK_EVERY_SECONDS)
        except subprocess.TimeoutExpired:
            if INTERRUPTED.is_set() and ends_with_us:
                process.terminate()
