"""The commands in ``doc/operators/plan.md`` with their output: run on the simulated site, or written again.

``PYTHONPATH=tests python -m planning.documented`` writes the page with the present output.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from app.http_env import HttpEnv
from databases import make_database
from planning.site import make_site
from served import served

from blazar.cmd import manage
from blazar.cmd.cloud_checks import CloudChecks
from blazar.cmd.manage import plans, what_if
from blazar.cmd.nova_conf import read_nova_conf

PAGE = Path(__file__).resolve().parents[2] / "doc" / "operators" / "plan.md"
_BLOCK = re.compile(r"^````console\n(.*?)^````$", re.DOTALL | re.MULTILINE)
"""With four backticks, because outputs contain code blocks."""
_COMMAND = re.compile(r"\$ ((?:[^\n]*\\\n> )*[^\n]*)\n((?:(?!\$ ).*\n)*)")

Run = Callable[[str], str]


def recorded(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a page, each with its output as shown."""
    for block in _BLOCK.findall(text):
        found = list(_COMMAND.finditer(block))
        assert "".join(each[0] for each in found) == block, block
        yield from ((each[1].replace("\\\n> ", ""), each[2]) for each in found)


def rewritten(text: str, run: Run) -> str:
    """Return the text of a page with the present output of its commands."""

    def block(match: re.Match[str]) -> str:
        lines = _COMMAND.sub(
            lambda each: f"$ {each[1]}\n{run(each[1].replace(chr(92) + chr(10) + '> ', ''))}", match[1]
        )
        return f"````console\n{lines}````"

    return _BLOCK.sub(block, text)


@contextlib.contextmanager
def session(folder: Path) -> Iterator[Run]:
    """Yield a function that runs a command line on the site and returns what it prints."""
    with make_database("sqlite", folder) as engine:
        env = make_site(engine, folder)
        with served(env.app) as url, contextlib.chdir(folder):
            yield lambda line: _run(env, url, shlex.split(line))


def _run(env: HttpEnv, url: str, words: list[str]) -> str:
    if words[0] == "openstack":
        return _run_client(url, words)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if words[:3] == ["blazar-status", "check", "cloud"]:
            name = words[-1] if "--nova-conf" in words else None
            conf = None if name is None else read_nova_conf(name)
            with warnings.catch_warnings():
                # The library uses outdated constants of prettytable.
                warnings.simplefilter("ignore", DeprecationWarning)
                CloudChecks(lambda: env.context, nova_conf=conf, reference=lambda: None).check()
        else:
            assert words[0] == "blazar-manage", words
            _run_manage(env, words[1:])
    # These ids are random.
    return re.sub(r"\breq-[0-9a-f-]{36}", "req-…", printed.getvalue())


def _run_manage(env: HttpEnv, words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="blazar-manage")
    manage.add_parsers(parser.add_subparsers(dest="verb"))
    arguments = parser.parse_args(words)
    # Of these two, the command line adds the usage rules of the configuration.
    run = {"plan": plans.plan, "what-if": what_if.what_if}.get(arguments.verb, arguments.run)
    assert run(env.context, arguments) == 0


def _run_client(url: str, words: list[str]) -> str:
    variables = {
        **{key: each for key, each in os.environ.items() if not key.startswith("OS_")},
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "OS_AUTH_TYPE": "none",
        "OS_ENDPOINT": url,
    }
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch, session(Path(scratch)) as run_line:
        PAGE.write_text(rewritten(PAGE.read_text(), run_line))
