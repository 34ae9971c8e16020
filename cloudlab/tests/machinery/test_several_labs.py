"""Labs side by side: each has its own folder, ports and tasks, and all share the installed packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from cloudlab import packages, plan
from cloudlab.down import remove_data
from cloudlab.errors import LabError
from cloudlab.folder import VARIABLE, Folder
from cloudlab.graph import Task, of_lab, run_all
from cloudlab.lab import OpenStackLab


def test_the_first_lab_is_in_the_folder_itself_and_the_others_below_it(tmp_path: Path) -> None:
    folder = Folder(tmp_path)

    plan.read_or_make_all(folder, 11)

    assert folder.lab(1) == folder.labs()[0] == folder
    assert folder.labs() == tuple(folder.lab(number) for number in range(1, 12))


def test_labs_share_no_port_and_no_password(tmp_path: Path) -> None:
    plans = plan.read_or_make_all(Folder(tmp_path), 3)

    ports = [port for each in plans for port in each.ports.values()]
    passwords = [password for each in plans for password in each.passwords.values()]
    assert len(set(ports)) == len(ports)
    assert len(set(passwords)) == len(passwords)


def test_a_lab_stays_as_it_is_when_others_are_added(tmp_path: Path) -> None:
    (first,) = plan.read_or_make_all(Folder(tmp_path), 1, ["node-1"])

    plans = plan.read_or_make_all(Folder(tmp_path), 2)

    assert plans[0] == first
    assert plan.read_all(Folder(tmp_path)) == plans


def test_tasks_of_another_lab_wait_for_their_own_and_for_shared_ones() -> None:
    done: list[str] = []

    def task(name: str, *after: str) -> Task:
        return Task(name=name, run=lambda: done.append(name), after=after)

    shared = task("environment")
    labs = [
        of_lab(number, [task("nova", "environment"), task("blazar", "environment", "nova")])
        for number in (1, 2)
    ]
    run_all([shared, *labs[0], *labs[1]], print)

    assert [each.name for each in labs[0]] == ["nova", "blazar"]
    assert [(each.name, each.after) for each in labs[1]] == [
        ("lab 2: nova", ("environment",)),
        ("lab 2: blazar", ("environment", "lab 2: nova")),
    ]
    assert done[0] == "environment"
    assert sorted(done) == sorted(["environment", *["nova", "blazar"] * 2])


def test_removing_the_data_of_all_labs_keeps_the_environment_that_they_share(tmp_path: Path) -> None:
    first, second = Folder(tmp_path), Folder(tmp_path).lab(2)
    plan.read_or_make_all(first, 2)
    first.environment.mkdir()
    (first.environment / "pyvenv.cfg").touch()

    packages.share_environment(first, second)
    packages.share_environment(first, second)
    shared = (second.environment / "pyvenv.cfg").exists()
    remove_data(first)

    assert shared
    assert (first.environment / "pyvenv.cfg").exists()
    assert not second.root.exists()
    assert plan.read_all(first) == []


def test_a_worker_without_a_lab_says_which_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw2")

    with pytest.raises(LabError, match=f"there is no lab in {tmp_path}/labs/3"):
        OpenStackLab.of_this_process()
