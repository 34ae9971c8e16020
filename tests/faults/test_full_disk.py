"""The embedded service on a full disk, and after space was freed."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from needed import give_up
from programs import Program, request, start_standalone, wait_until

SIZE = "4m"
HOST = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 1,
    "hypervisor_properties": "",
    "resource_properties": "",
}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield the folder of a small file system; mounting it requires root."""
    if os.geteuid() != 0:
        give_up("only root can mount a file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", str(folder)], check=True)
    yield folder
    # Lazily, because a program that is still running may have files open there.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def service(small_disk: Path) -> Iterator[tuple[Program, str]]:
    program, url = start_standalone(small_disk)
    yield program, url
    program.close()


def lease(name: str) -> dict[str, object]:
    return {"name": name, "start_date": "now", "end_date": "9000-01-01 00:00", "reservations": [HOST]}


def fill(disk: Path) -> Path:
    """Fill a disk, and return the file that fills it."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
    return filler


def statuses(url: str) -> dict[str, str]:
    status, body = request(f"{url}/leases")
    assert status == 200, body
    return {each["name"]: each["status"] for each in body["leases"]}


def test_a_full_disk_refuses_requests_and_loses_nothing(
    small_disk: Path, service: tuple[Program, str]
) -> None:
    program, url = service
    for number in (1, 2, 3):
        assert request(f"{url}/os-hosts", "POST", {"name": f"host-{number}"})[0] == 201
    status, body = request(f"{url}/leases", "POST", lease("before"))
    assert status == 201
    assert wait_until(lambda: statuses(url) == {"before": "ACTIVE"}), program.log

    filler = fill(small_disk)
    refused = [request(f"{url}/leases", "POST", lease(f"full-{number}")) for number in range(20)]
    deleted = request(f"{url}/leases/{body['lease']['id']}", "DELETE")
    seen = statuses(url)
    filler.unlink()

    # Writes that fit into free pages succeeded, all others failed.
    done = {f"full-{number}" for number, answer in enumerate(refused) if answer[0] == 201}
    assert {answer[0] for answer in refused} <= {201, 400, 409, 503}, refused
    assert any(answer[0] == 503 for answer in refused), refused
    assert deleted[0] in (204, 503), deleted
    assert seen.keys() <= {"before"} | done
    wanted = dict.fromkeys(done, "ACTIVE") | ({"before": "ACTIVE"} if deleted[0] == 503 else {})
    assert wait_until(lambda: statuses(url) == wanted, 60), (wanted, statuses(url), program.log)
    assert request(f"{url}/leases", "POST", lease("after"))[0] == 201
    assert wait_until(lambda: statuses(url) == {**wanted, "after": "ACTIVE"}, 60), program.log
    assert program.stop() == 0
    with closing(sqlite3.connect(small_disk / "blazar.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
