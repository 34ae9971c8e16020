"""The API under uWSGI, started with the command of its unit."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from programs import free_port, wait_until

UNIT = Path(__file__).parents[2] / "etc" / "systemd" / "blazar-api.service"
REQUESTS = 50


def command_of_the_unit(port: int) -> list[str]:
    (line,) = (each for each in UNIT.read_text().splitlines() if "uwsgi --http-socket" in each)
    _, *arguments = shlex.split(line.partition("=")[2])
    program = str(Path(sys.executable).with_name("uwsgi"))
    return [program, *(each.replace("127.0.0.1:1235", f"127.0.0.1:{port}") for each in arguments)]


def status_of(connection: http.client.HTTPConnection) -> tuple[int, str | None]:
    """Return the status of a response and its ``Connection`` header, if it has one."""
    connection.request("POST", "/v1/nothing", body="{}", headers={"Content-Type": "application/json"})
    with connection.getresponse() as answer:
        answer.read()
        return answer.status, answer.getheader("Connection")


CONFIGURATION = """\
[DEFAULT]
auth_strategy = noauth
transport_url = fake:/
[oslo_middleware]
enable_proxy_headers_parsing = true
"""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Yield the port of an API that needs neither a broker nor Keystone for the requests of these tests."""
    (tmp_path / "blazar.conf").write_text(CONFIGURATION)
    found = free_port()
    environment = {"OS_BLAZAR_CONFIG_DIR": str(tmp_path), "PATH": ""}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command_of_the_unit(found),
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            assert wait_until(lambda: answers(found)), (tmp_path / "log").read_text()
            yield found
        finally:
            # On SIGTERM, uWSGI waits up to a minute for workers that are still loading the application.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def answers(port: int) -> bool:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        try:
            return status_of(connection)[0] == 404
        except OSError:
            return False


def test_clients_that_keep_connections_open_are_told_that_they_are_closed(port: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        # The client reconnects by itself only after a response with this header.
        assert {status_of(connection) for _ in range(REQUESTS)} == {(404, "close")}


def test_links_are_those_that_clients_of_the_web_server_use(port: int) -> None:
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "reservation.example"}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", "/v1", headers=headers)
        with connection.getresponse() as answer:
            version = json.load(answer)["version"]

    assert version["links"] == [{"href": "https://reservation.example/v1", "rel": "self"}]


def test_paths_of_calendars_are_not_logged(port: int, tmp_path: Path) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("HEAD", "/v1/calendars/secret")
        with connection.getresponse() as answer:
            assert answer.status == 404

    log = (tmp_path / "log").read_text()
    assert "secret" not in log
    assert "path='/v1/calendars/***' status=404" in log
