"""The ``blazar`` command, run in this process, with or without printing it."""

from __future__ import annotations

import io
import json
import os
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from blazarclient import shell


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a command: its exit code and both of its outputs."""

    code: int
    output: str
    errors: str


class CommandFailed(Exception):
    """A command failed that should always succeed."""


def connect(url: str) -> None:
    """Configure all commands for the service at *url*, which ends in ``/v1``, without credentials."""
    os.environ.update(OS_AUTH_TYPE="none", OS_ENDPOINT=url.removesuffix("/v1"))
    say(f"$ export OS_AUTH_TYPE=none OS_ENDPOINT={os.environ['OS_ENDPOINT']}")


def type_in(*words: str) -> Answer:
    """Run and print a command with its output; return the result."""
    typed = shlex.join(words).replace(" --reservation ", " \\\n    --reservation ")
    say(f"$ blazar {typed}")
    answer = _run(words)
    for line in (answer.errors + answer.output).splitlines():
        say(f"  {line}")
    return answer


def ask(*words: str) -> Any:
    """Return the data that a command prints as JSON. Raises CommandFailed."""
    answer = _run((*words, "-f", "json"))
    if answer.code:
        raise CommandFailed(f"blazar {shlex.join(words)}: {answer.errors}")
    return json.loads(answer.output)


def say(text: str) -> None:
    """Print a line and flush the output."""
    print(text, flush=True)


def _run(words: tuple[str, ...]) -> Answer:
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        code = shell.main(words)
    return Answer(code=code, output=output.getvalue(), errors=errors.getvalue())
