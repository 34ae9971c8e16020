"""Processes of the lab: they can be found again, stopped and paused, and no others are affected."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cloudlab import processes
from cloudlab.commands import plain_environment
from cloudlab.errors import LabError
from cloudlab.folder import Folder
from cloudlab.service import Service
from cloudlab.waiting import wait_until

SECONDS = 10
WITH_CHILD = ("sh", "-c", "sleep 300 & sleep 300")
DEAF = ("sh", "-c", 'trap "" TERM; while :; do sleep 0.1; done')

Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return a function that makes a service of a command; all services are stopped after the test."""
    made: list[Service] = []

    def make_service(*command: str, name: str = "sleeper") -> Service:
        made.append(
            Service(
                name=name,
                folder=Folder(tmp_path),
                command=command,
                environment=plain_environment(),
                check=lambda since: True,
            )
        )
        return made[-1]

    yield make_service
    for service in made:
        service.kill()


def members(service: Service) -> tuple[processes.Process, ...]:
    return processes.members(service.folder.record(service.name))


def state(pid: int) -> str:
    """Return the state of a process as shown by ``ps``."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def test_a_started_service_runs_in_a_session_of_its_own(make: Make) -> None:
    service = make("sleep", "300")

    service.start()

    assert service.is_running
    assert os.getsid(service.pid) == service.pid
    assert service.pid != os.getpid()


def test_starting_what_runs_changes_nothing(make: Make) -> None:
    service = make("sleep", "300")
    service.start()
    before = service.pid

    service.start()

    assert service.pid == before


@pytest.mark.parametrize("end", [Service.stop, Service.kill])
def test_children_end_with_their_service(make: Make, end: Callable[[Service], None]) -> None:
    service = make(*WITH_CHILD)
    service.start()
    wait_until(lambda: len(members(service)) == 3, "the children run", seconds=SECONDS)
    pids = [each.pid for each in members(service)]

    end(service)

    assert not service.is_running
    assert [pid for pid in pids if processes.find(pid)] == []


def test_what_a_killed_process_leaves_behind_is_ended_before_it_is_started_again(make: Make) -> None:
    service = make(*WITH_CHILD)
    service.start()
    wait_until(lambda: len(members(service)) == 3, "the children run", seconds=SECONDS)
    first = members(service)
    os.kill(service.pid, signal.SIGKILL)
    wait_until(lambda: not service.is_running, "it is dead", seconds=SECONDS)
    orphans = members(service)

    service.start()

    assert len(orphans) == 2
    assert service.is_running
    assert [each for each in first if processes.find(each.pid) == each] == []


def test_what_does_not_listen_is_ended_by_force(make: Make) -> None:
    service = dataclasses.replace(make(*DEAF), seconds_to_stop=0.5)
    service.start()

    service.stop()

    assert not service.is_running


def test_a_paused_service_stands_still_until_it_is_resumed(make: Make) -> None:
    service = make("sleep", "300")
    service.start()

    service.pause()

    wait_until(lambda: state(service.pid) == "T", "it stands still", seconds=SECONDS)
    assert service.is_running
    service.resume()
    wait_until(lambda: state(service.pid) == "S", "it goes on", seconds=SECONDS)


def test_a_paused_service_can_be_stopped(make: Make) -> None:
    service = make("sleep", "300")
    service.start()
    service.pause()

    service.stop()

    assert not service.is_running


@pytest.mark.parametrize("changed", ["start time", "boot"])
def test_a_process_that_only_has_the_same_id_is_left_alone(make: Make, changed: str) -> None:
    service, other = make("sleep", "300"), make("sleep", "300", name="other")
    other.start()
    stat, boot = other.folder.record("other").read_text().splitlines()
    if changed == "boot":
        boot = "00000000-0000-0000-0000-000000000000"
    else:
        fields = stat.split(" ")
        stat = " ".join([*fields[:21], str(int(fields[21]) - 1), *fields[22:]])
    service.folder.record("sleeper").write_text(f"{stat}\n{boot}\n")

    service.stop()

    assert not service.is_running
    assert other.is_running


def test_whoever_waits_for_a_service_that_ended_is_told_what_it_said(make: Make) -> None:
    service = make("sh", "-c", "echo no such port; exit 1")
    service.start()

    with pytest.raises(LabError, match=r"(?s)sleeper has ended.*no such port"):
        service.wait_until_answers()


def test_a_name_with_blanks_and_brackets_is_no_part_of_the_numbers() -> None:
    fields = " ".join(str(number) for number in range(4, 53))

    process = processes.Process.parse(f"77 (a) S (b) S {fields}")

    assert (process.pid, process.session, process.started_ticks) == (77, 6, 22)
