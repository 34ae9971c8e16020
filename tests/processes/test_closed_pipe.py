"""Programs end cleanly if the reader of their output closes the pipe early, as ``| head -1`` does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from programs import DEADLINE_SECONDS
from samples import make_lease

from blazar.db.schema import upgrade
from blazar.db.store import SqlStore
from blazar_plugin_testing.clocks import ManualClock

MORE_THAN_A_PIPE_HOLDS = 2_000
# Without a buffer, no data is left to be flushed at exit.
BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}


@pytest.fixture(scope="module")
def conf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a configuration whose database has many leases."""
    folder = tmp_path_factory.mktemp("conf")
    engine = sa.create_engine(f"sqlite:///{folder}/b.sqlite")
    upgrade(engine)
    with SqlStore(engine, ManualClock(), {}).begin() as transaction:
        transaction.leases.insert_many([make_lease(f"l{each}") for each in range(MORE_THAN_A_PIPE_HOLDS)])
        transaction.commit()
    engine.dispose()
    path = folder / "blazar.conf"
    path.write_text(f"[database]\nconnection = sqlite:///{folder}/b.sqlite\n[manager]\ncloud = simulated\n")
    return path


def command(module: str, *words: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", f"blazar.cmd.{module}", *words]


def run_unread(module: str, *words: str) -> tuple[int, str]:
    """Return the exit code and stderr of a program whose stdout is a pipe closed by its reader."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            command(module, *words),
            stdout=writing,
            stderr=subprocess.PIPE,
            env=BUFFERED,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
    finally:
        os.close(writing)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("manage", "lease", "list"),
        ("manage", "lease", "list", "--waiting", "-f", "json"),
        ("db_manage", "current"),
        ("db_manage", "history"),
    ],
)
def test_a_command_ends_silently(words: tuple[str, ...], conf: Path) -> None:
    module, *rest = words

    assert run_unread(module, "--config-file", str(conf), *rest) == (0, "")


@pytest.mark.parametrize("module", ["api", "manage", "status"])
def test_help_ends_silently(module: str) -> None:
    assert run_unread(module, "--help") == (0, "")


def test_the_exit_code_still_says_what_was_found(conf: Path) -> None:
    code, said = run_unread("manage", "--config-file", str(conf), "lease", "history", "nothing", "-f", "json")

    assert (code, said) == (1, "nothing: there is no history of such a lease\n")


def test_a_reader_that_takes_one_line_gets_it(conf: Path) -> None:
    with subprocess.Popen(
        command("manage", "--config-file", str(conf), "lease", "list"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=BUFFERED,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        first = program.stdout.readline()
        program.stdout.close()

        assert first.startswith("l0  name of l0  PENDING  ")
        assert program.stderr.read() == ""
        assert program.wait(timeout=DEADLINE_SECONDS) == 0


def test_a_full_disk_is_said_in_one_line(conf: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command("manage", "--config-file", str(conf), "host", "list", "-f", "json"),
            stdout=full,
            stderr=subprocess.PIPE,
            env=BUFFERED,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )

    assert (done.returncode, done.stderr) == (1, "blazar-manage: No space left on device\n")
