"""The health and metrics pages of each program, on MariaDB and RabbitMQ."""

from __future__ import annotations

import json
import socket
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from broker import broker_url
from databases import make_database
from programs import Program, fetch, free_port, request, run, start_standalone, wait_until
from telemetry.scraping import samples

CONFIGURATION = """
[DEFAULT]
auth_strategy = noauth
host = 127.0.0.1
port = {api}
transport_url = {rabbit}
[database]
connection = {database}
[manager]
cloud = simulated
rpc_topic = blazar.test.{topic}
[metrics]
listen_port = {manager}
in_api = true
"""


def _is(status: int, url: str) -> bool:
    try:
        return fetch(url)[0] == status
    except OSError:
        return False


def test_api_and_manager_show_how_they_are(tmp_path: Path, ended_afterwards: Callable[[Any], Any]) -> None:
    with make_database("mariadb", tmp_path) as engine:
        ports = {"api": free_port(), "manager": free_port()}
        path = tmp_path / "blazar.conf"
        path.write_text(
            CONFIGURATION.format(
                **ports,
                rabbit=broker_url(),
                database=engine.url.render_as_string(hide_password=False).replace("%", "%%"),
                topic=uuid.uuid4().hex,
            )
        )
        manager, api = (
            ended_afterwards(Program(f"blazar.cmd.{each}", "--config-file", str(path)))
            for each in ("manager", "api")
        )
        urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        assert wait_until(lambda: _is(200, f"{urls['manager']}/healthcheck")), manager.log
        assert wait_until(lambda: _is(200, f"{urls['api']}/healthcheck")), api.log
        lease = {"name": "l", "start_date": "now", "end_date": "9000-01-01 00:00"}
        assert request(f"{urls['api']}/v1/leases", "POST", lease)[0] == 201

        of_api = samples(fetch(f"{urls['api']}/metrics")[1])
        of_manager = samples(fetch(f"{urls['manager']}/metrics")[1])

        created = 'blazar_api_requests_total{method="POST",route="/v1/leases",status="201"}'
        assert of_api[created] == 1
        assert of_api['blazar_api_manager_call_duration_seconds_count{method="create_lease"}'] == 1
        assert "blazar_database_up" not in of_api
        assert of_manager['blazar_manager_requests_total{method="create_lease",outcome="ok"}'] == 1
        assert of_manager["blazar_database_up"] == 1
        assert of_manager["process_resident_memory_bytes"] > 0
        with engine.connect() as connection:
            connection.exec_driver_sql("DROP TABLE work")
        assert wait_until(lambda: _is(503, f"{urls['manager']}/healthcheck"))
        assert "dispatch" in json.loads(fetch(f"{urls['manager']}/healthcheck")[1])["reasons"][0]
        assert fetch(f"{urls['manager']}/metrics")[0] == 200
        assert [manager.stop(), api.stop()] == [0, 0]


def test_one_request_can_be_followed_through_both_and_no_secret_is_among_it(
    tmp_path: Path, ended_afterwards: Callable[[Any], Any]
) -> None:
    with make_database("mariadb", tmp_path) as engine:
        ports = {"api": free_port(), "manager": free_port()}
        path = tmp_path / "blazar.conf"
        text = CONFIGURATION.format(
            **ports,
            rabbit=broker_url(),
            database=engine.url.render_as_string(hide_password=False).replace("%", "%%"),
            topic=uuid.uuid4().hex,
        )
        path.write_text(f"{text}[oslo_messaging_notifications]\ndriver = messagingv2\n")
        options = ["--config-file", str(path), "--debug"]
        manager = ended_afterwards(Program("blazar.cmd.manager", *options))
        # Requests sent before the queue exists are lost, but the API still waits for their responses.
        assert wait_until(lambda: manager.has_logged("has started")), manager.log
        api = ended_afterwards(Program("blazar.cmd.api", *options))
        url = f"http://127.0.0.1:{ports['api']}/v1"
        assert wait_until(lambda: _is(200, f"{url}/leases")), (manager.log, api.log)
        lease = {"name": "l", "start_date": "now", "end_date": "9000-01-01 00:00"}
        lease_id = request(f"{url}/leases", "POST", lease)[1]["lease"]["id"]

        sent = "req-6a0c1f0e-9999-4222-8333-0123456789ab"
        headers = {"X-Auth-Token": "a-token-of-the-lessees", "X-Openstack-Request-Id": sent}
        assert fetch(f"{url}/leases/{lease_id}", headers)[0] == 200
        assert [manager.stop(), api.stop()] == [0, 0]
        manager.close()
        api.close()

        logs = {"manager": manager.log, "api": api.log}
        for name, lines in logs.items():
            about = [line for line in lines if sent in line]
            assert about, name
            assert any(f"[lease {lease_id}]" in line for line in about), name
            # The broker's password equals its user name, so the search is for the pair.
            assert not [line for line in lines if "a-token-of-the-lessees" in line or "guest:guest" in line]


def test_the_embedded_service_shows_both_at_one_place(
    tmp_path: Path, ended_afterwards: Callable[[Any], Any]
) -> None:
    program, url = start_standalone(tmp_path)
    ended_afterwards(program)
    root = url.removesuffix("/v1")
    assert request(f"{url}/leases")[0] == 200

    shown = samples(fetch(f"{root}/metrics")[1])

    assert shown['blazar_api_requests_total{method="GET",route="/v1/leases",status="200"}'] == 1
    assert shown['blazar_manager_requests_total{method="list_leases",outcome="ok"}'] == 1
    assert shown["blazar_database_up"] == 1
    assert fetch(f"{root}/healthcheck")[0] == 200
    assert program.stop() == 0


def test_a_port_that_is_taken_stops_a_manager(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        path = tmp_path / "blazar.conf"
        path.write_text(
            f"[DEFAULT]\ntransport_url = {broker_url()}\n"
            f"[database]\nconnection = sqlite:///{tmp_path}/b\n[manager]\ncloud = simulated\n"
            f"[metrics]\nlisten_port = {taken.getsockname()[1]}\n"
        )
        options = ["--config-file", str(path)]
        run("blazar.cmd.db_manage", *options, "upgrade", "head")

        done = run("blazar.cmd.manager", *options)

    assert done.returncode == 1
    assert "[metrics] listen_port: Address already in use" in done.stderr
