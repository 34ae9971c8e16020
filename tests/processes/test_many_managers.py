"""Two managers and the API as processes, on MariaDB and RabbitMQ.

The simulated cloud exists in one process only, so two managers can share only leases without reservations.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from broker import broker_url
from databases import make_database
from programs import Program, free_port, request, wait_until

CONFIGURATION = """
[DEFAULT]
auth_strategy = noauth
host = 127.0.0.1
port = {port}
transport_url = {rabbit}
[database]
connection = {database}
[manager]
cloud = simulated
rpc_topic = blazar.test.{topic}
"""
TAKEOVER_SECONDS = 15


def _statuses(url: str) -> list[str]:
    status, body = request(f"{url}/leases")
    return [each["status"] for each in body["leases"]] if status == 200 else []


def test_weakness_22_what_a_killed_manager_was_at_is_done_by_the_other(
    tmp_path: Path, ended_afterwards: Callable[[Any], Any]
) -> None:
    with make_database("mariadb", tmp_path) as engine:
        port = free_port()
        path = tmp_path / "blazar.conf"
        path.write_text(
            CONFIGURATION.format(
                port=port,
                rabbit=broker_url(),
                database=engine.url.render_as_string(hide_password=False).replace("%", "%%"),
                topic=uuid.uuid4().hex,
            )
        )
        options = ["--config-file", str(path)]
        doomed, other = (ended_afterwards(Program("blazar.cmd.manager", *options)) for _ in range(2))
        # Requests sent before the queue exists are lost, but the API still waits for their responses.
        assert wait_until(lambda: all(each.has_logged("has started") for each in (doomed, other)))
        api = ended_afterwards(Program("blazar.cmd.api", *options))
        url = f"http://127.0.0.1:{port}/v1"
        assert wait_until(lambda: _answers(url)), (doomed.log, other.log, api.log)
        for number in range(30):
            body = {"name": f"l{number}", "start_date": "now", "end_date": "9000-01-01 00:00"}
            assert request(f"{url}/leases", "POST", body)[0] == 201

        doomed.kill()

        assert wait_until(lambda: _statuses(url) == ["ACTIVE"] * 30, TAKEOVER_SECONDS), other.log
        with engine.connect() as connection:
            claimed = connection.scalar(
                sa.text("SELECT COUNT(*) FROM work WHERE owner IS NOT NULL AND `key` <> 'sweep'")
            )
        assert claimed == 0
        assert [other.stop(), api.stop()] == [0, 0]


def _answers(url: str) -> bool:
    try:
        return request(f"{url}/leases")[0] == 200
    except OSError:
        return False
