"""Tasks, steps and commands: in order, repeatable, and stopped with the command."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cloudlab import commands, files, packages, plan, ports
from cloudlab.errors import LabError
from cloudlab.folder import Folder
from cloudlab.graph import Task, run_all
from cloudlab.steps import is_done, once, was_ever_done
from cloudlab.waiting import INTERRUPTED, wait_until


@pytest.fixture(autouse=True)
def _not_interrupted() -> Iterator[None]:
    yield
    INTERRUPTED.clear()


def test_a_task_begins_when_those_before_it_are_done_and_others_do_not_wait() -> None:
    done: list[str] = []
    together = threading.Barrier(2, timeout=10)

    def meet(name: str) -> None:
        together.wait()
        done.append(name)

    run_all(
        [
            Task(name="a", run=lambda: meet("a")),
            Task(name="b", run=lambda: meet("b")),
            Task(name="c", run=lambda: done.append("c"), after=("a", "b")),
        ],
        print,
    )

    assert sorted(done[:2]) == ["a", "b"]
    assert done[2:] == ["c"]


def test_only_what_did_something_is_spoken_of() -> None:
    said: list[str] = []

    run_all([Task(name="idle", run=lambda: None), Task(name="busy", run=lambda: "made")], said.append)

    assert len(said) == 1
    assert said[0].startswith("busy: made (")


def test_a_failure_is_reported_and_ends_the_waiting_of_others() -> None:
    begun: list[str] = []

    def fail() -> None:
        raise LabError("it is broken")

    def wait() -> None:
        wait_until(lambda: False, "the end of time", seconds=300)

    with pytest.raises(LabError, match="it is broken"):
        run_all(
            [
                Task(name="patient", run=wait),
                Task(name="broken", run=fail),
                Task(name="next", run=lambda: begun.append("next"), after=("broken",)),
            ],
            print,
        )

    assert begun == []


def test_a_step_is_done_again_for_another_key_only(tmp_path: Path) -> None:
    folder, calls = Folder(tmp_path), []

    first = once(folder, "schema", "1", lambda: calls.append(1))
    second = once(folder, "schema", "1", lambda: calls.append(2))
    third = once(folder, "schema", "2", lambda: calls.append(3))

    assert (first, second, third) == (True, False, True)
    assert calls == [1, 3]


def test_a_step_that_failed_was_never_done(tmp_path: Path) -> None:
    folder = Folder(tmp_path)

    def fail() -> None:
        raise LabError("half-way")

    with pytest.raises(LabError):
        once(folder, "schema", "1", fail)

    assert not is_done(folder, "schema", "1")
    assert not was_ever_done(folder, "schema")


def test_a_command_that_fails_is_named_with_the_end_of_its_log(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"(?s)exit code 3.*out of paper"):
        commands.run(["sh", "-c", "echo out of paper; exit 3"], log=tmp_path / "log")


def test_a_command_ends_when_the_lab_is_interrupted(tmp_path: Path) -> None:
    threading.Timer(0.5, INTERRUPTED.set).start()

    with pytest.raises(LabError, match="interrupted"):
        commands.run(["sleep", "300"], log=tmp_path / "log")


def test_what_is_chosen_for_a_lab_stays(tmp_path: Path) -> None:
    folder = Folder(tmp_path)

    first, second = plan.read_or_make(folder), plan.read_or_make(folder)

    assert first == second
    assert first.hosts == plan.DEFAULT_HOSTS
    assert len(set(first.ports.values())) == len(first.ports)
    assert all(ports.is_free(port) for port in first.ports.values())


def test_hosts_can_be_added_to_a_lab(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    first = plan.read_or_make(folder, ["node-1"])

    second = plan.read_or_make(folder, ["node-1", "node-2"])

    assert first.hosts == ("node-1",)
    assert second.hosts == ("node-1", "node-2")
    assert plan.read_or_make(folder).hosts == second.hosts
    assert (second.ports, second.passwords) == (first.ports, first.passwords)


def test_files_with_passwords_can_be_read_by_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "etc" / "nova.conf"

    files.write_ini(path, {"DEFAULT": {"flag": True, "number": 3}, "filters": {"each": ("a", "b")}})

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "[DEFAULT]\nflag = true\nnumber = 3\n\n[filters]\neach = a\neach = b\n"


def test_missing_debian_packages_are_all_named_where_they_may_not_be_installed(tmp_path: Path) -> None:
    wanted = {"one": str(tmp_path / "one"), "two": str(tmp_path / "two"), "there": "/bin/sh"}

    with pytest.raises(LabError, match=r"as root: apt-get install --yes --no-install-recommends one two$"):
        packages.install_debian_packages(Folder(tmp_path), wanted, become_root=["false"])


def test_everything_is_locked_at_one_version() -> None:
    lines = [line for line in packages.LOCK.read_text().splitlines() if not line.startswith("#")]

    names = [line.partition("==")[0].lower() for line in lines]

    assert [line for line in lines if line.count("==") != 1] == []
    assert len(set(names)) == len(names)
    assert {"keystone", "openstack-placement", "glance", "nova", "neutron", "pyuwsgi"} <= set(names)
