"""The rig starts the whole service, can stop each part of it, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
import requests

from cloudlab import packages, processes
from cloudlab.errors import LabError
from cloudlab.waiting import wait_until
from rig import needs, web_server
from rig.installation import Installation, running
from rig.wanted import Wanted

SECONDS = 30
LEASE = {"name": "l", "start_date": "now", "end_date": "9000-01-01 00:00", "reservations": []}


@pytest.fixture(scope="module")
def installation(request: pytest.FixtureRequest) -> Iterator[Installation]:
    """Yield an installation, by default on MariaDB."""
    with running(Wanted(database=getattr(request, "param", "mariadb"))) as installation:
        yield installation


def lease_of(installation: Installation) -> str:
    answer = requests.post(f"{installation.url}/leases", json=LEASE, timeout=SECONDS)
    assert answer.status_code == 201, answer.text
    return f"{installation.url}/leases/{answer.json()['lease']['id']}"


def status(url: str) -> str:
    return str(requests.get(url, timeout=SECONDS).json()["lease"]["status"])


def becomes_active(url: str) -> None:
    wait_until(lambda: status(url) == "ACTIVE", f"{url} is ACTIVE", seconds=SECONDS)


def test_all_parts_work_together(installation: Installation) -> None:
    becomes_active(lease_of(installation))


def test_one_manager_works_while_the_other_is_gone(installation: Installation) -> None:
    first, second = installation.managers

    first.kill()
    becomes_active(lease_of(installation))
    first.start()
    first.wait_until_answers()
    second.stop()

    becomes_active(lease_of(installation))
    second.start()
    second.wait_until_answers()


def test_what_all_managers_missed_while_they_stood_still_is_done_when_they_go_on(
    installation: Installation,
) -> None:
    url = lease_of(installation)
    becomes_active(url)

    for manager in installation.managers:
        manager.pause()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(status, url)
        assert wait([asked], timeout=1).not_done
        for manager in installation.managers:
            manager.resume()

        assert asked.result() == "ACTIVE"


# Nodes of Galera are killed and come back in test_cluster.py.
@pytest.mark.parametrize("installation", ["mariadb", "postgresql"], indirect=True)
@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_server_that_has_ended_comes_back_with_what_it_kept(installation: Installation, end: str) -> None:
    url = lease_of(installation)
    becomes_active(url)
    server = installation.databases[0]

    getattr(server, end)()
    assert not server.is_running
    assert server.members() == ()
    server.start()
    server.wait_until_answers()

    assert status(url) == "ACTIVE"
    becomes_active(lease_of(installation))


def test_nothing_is_left_of_a_block_that_raised() -> None:
    installations: list[Installation] = []

    def fail() -> None:
        with running(Wanted(managers=1)) as installation:
            installations.append(installation)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        fail()

    folder = installations[0].plan.folder
    assert raised.value.__notes__ == [f"logs: {folder.all_logs}"]
    assert "has started" in folder.log("blazar-manager-1").read_text()
    assert not folder.all_data.exists()
    assert [name for name, each in installations[0].services.items() if each.members()] == []
    assert list(running_below(folder.root)) == []


def running_below(folder: Path) -> Iterator[str]:
    """Yield the command lines of running processes that contain the path of a folder."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and processes.find(int(entry.name)) is not None:
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if str(folder) in command:
                yield command


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(packages.DEBIAN, "rabbitmq-server", "/nowhere/rabbitmq-server")

    with pytest.raises(LabError, match=r"missing; as root: apt-get install .* rabbitmq-server$"):
        needs.check("mariadb")


def test_a_web_server_is_missed_only_where_there_is_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "PROGRAM", "/nowhere/nginx")

    needs.check("mariadb")
    with pytest.raises(LabError, match=r"missing; as root: apt-get install .* nginx$"):
        needs.check("mariadb", has_web_server=True)
