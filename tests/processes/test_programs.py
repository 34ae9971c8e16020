"""Each program, run from the command line."""

from __future__ import annotations

import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import amqp
import pytest
from broker import broker_connection, broker_url
from programs import Program, request, run, start_standalone, wait_until

from blazar.db.revisions import head_revision

HEAD = head_revision()
BEFORE_HEAD = f"{int(HEAD) - 1:04}"

LEASE = {
    "name": "l",
    "start_date": "now",
    "end_date": "9000-01-01 00:00",
    "reservations": [
        {
            "resource_type": "physical:host",
            "min": 1,
            "max": 1,
            "hypervisor_properties": "",
            "resource_properties": "",
        }
    ],
}


def _configuration(tmp_path: Path, text: str) -> str:
    path = tmp_path / "blazar.conf"
    path.write_text(text)
    return str(path)


def test_a_lease_is_started_and_deleted_by_the_embedded_service(
    tmp_path: Path, ended_afterwards: Callable[[Any], Any]
) -> None:
    program, url = start_standalone(tmp_path)
    ended_afterwards(program)

    assert request(f"{url}/os-hosts", "POST", {"name": "host-1"})[0] == 201
    status, body = request(f"{url}/leases", "POST", LEASE)
    lease_url = f"{url}/leases/{body['lease']['id']}"

    assert status == 201
    assert wait_until(lambda: request(lease_url)[1]["lease"]["status"] == "ACTIVE")
    assert request(lease_url, "DELETE") == (204, None)
    assert request(lease_url)[0] == 404
    assert program.stop() == 0


def test_a_killed_service_finds_its_leases_again(
    tmp_path: Path, ended_afterwards: Callable[[Any], Any]
) -> None:
    program, url = start_standalone(tmp_path)
    ended_afterwards(program)
    request(f"{url}/os-hosts", "POST", {"name": "host-1"})
    lease_id = request(f"{url}/leases", "POST", LEASE)[1]["lease"]["id"]

    program.kill()
    program, url = start_standalone(tmp_path)
    ended_afterwards(program)

    assert wait_until(lambda: request(f"{url}/leases/{lease_id}")[1]["lease"]["status"] == "ACTIVE")
    assert request(f"{url}/leases/{lease_id}", "DELETE")[0] == 204


def test_two_services_do_not_share_a_state_folder(
    tmp_path: Path, ended_afterwards: Callable[[Any], Any]
) -> None:
    ended_afterwards(start_standalone(tmp_path)[0])

    second = run("blazar.cmd.standalone", "--state-dir", str(tmp_path), "--listen-port", "0")

    assert second.returncode == 1
    assert "is in use by another process" in second.stderr


def test_an_interrupt_ends_the_service_in_order(
    tmp_path: Path, ended_afterwards: Callable[[Any], Any]
) -> None:
    program, _ = start_standalone(tmp_path)
    ended_afterwards(program)

    program.process.send_signal(signal.SIGINT)

    assert program.process.wait(timeout=20) == 0


def test_the_schema_goes_up_and_down(tmp_path: Path) -> None:
    options = [
        "--config-file",
        _configuration(tmp_path, f"[database]\nconnection = sqlite:///{tmp_path}/b\n"),
    ]

    def manage(*arguments: str) -> str:
        done = run("blazar.cmd.db_manage", *options, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    manage("upgrade", "head")
    assert manage("current").startswith(HEAD)
    assert f"{BEFORE_HEAD} -> {HEAD}" in manage("history")
    manage("check_migration")
    manage("branches")
    manage("downgrade", "--delta", "1")
    assert manage("current").startswith(BEFORE_HEAD)
    manage("downgrade", "base")
    assert manage("current") == ""
    manage("stamp", "head")
    assert manage("current").startswith(HEAD)


def test_the_schema_can_be_printed_instead(tmp_path: Path) -> None:
    text = "[database]\nconnection = postgresql+psycopg2://unknown@127.0.0.1/none\n"

    done = run(
        "blazar.cmd.db_manage", "--config-file", _configuration(tmp_path, text), "upgrade", "head", "--sql"
    )

    assert done.returncode == 0, done.stderr
    assert "CREATE TABLE leases" in done.stdout
    assert "EXCLUDE USING gist" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "text", "problem"),
    [
        (["upgrade", "head"], "", "[database] connection is not set"),
        (["upgrade"], "[database]\nconnection = sqlite://\n", "needs a revision or --delta"),
    ],
)
def test_what_the_schema_tool_lacks_is_said(
    tmp_path: Path, arguments: list[str], text: str, problem: str
) -> None:
    done = run("blazar.cmd.db_manage", "--config-file", _configuration(tmp_path, text), *arguments)

    assert done.returncode == 1
    assert problem in done.stderr


def test_the_upgrade_check_notices_a_schema_that_is_not_current(tmp_path: Path) -> None:
    options = [
        "--config-file",
        _configuration(
            tmp_path,
            f"[database]\nconnection = sqlite:///{tmp_path}/b\n[manager]\ncloud = simulated\n",
        ),
    ]

    before = run("blazar.cmd.status", *options, "upgrade", "check")
    run("blazar.cmd.db_manage", *options, "upgrade", "head")
    after = run("blazar.cmd.status", *options, "upgrade", "check")

    assert (before.returncode, after.returncode) == (2, 0), before.stderr + after.stderr
    assert f"not at {HEAD}" in before.stdout
    assert "Not checked: the schema is not current" in before.stdout
    for found in ("No resource is reserved twice", "Nova has the aggregate freepool", "has no leftovers"):
        assert found in after.stdout


def test_the_upgrade_check_notices_what_would_stop_a_manager(tmp_path: Path) -> None:
    text = f"[database]\nconnection = sqlite:///{tmp_path}/b\n[manager]\ncloud = simulated\n"
    rules = "[enforcement]\nenabled_filters = NoSuchFilter\n"
    options = ["--config-file", _configuration(tmp_path, text + rules)]
    run("blazar.cmd.db_manage", *options, "upgrade", "head")

    found = run("blazar.cmd.status", *options, "upgrade", "check")

    assert found.returncode == 2
    assert "there is nothing named" in found.stdout
    assert "NoSuchFilter" in found.stdout


def test_an_operator_has_hosts_read_again(tmp_path: Path) -> None:
    options = [
        "--config-file",
        _configuration(
            tmp_path,
            f"[database]\nconnection = sqlite:///{tmp_path}/b\n[manager]\ncloud = simulated\n",
        ),
    ]
    before = run("blazar.cmd.manage", *options, "host", "refresh")
    run("blazar.cmd.db_manage", *options, "upgrade", "head")

    everything = run("blazar.cmd.manage", *options, "host", "refresh")
    unknown = run("blazar.cmd.manage", *options, "host", "refresh", "unknown")

    assert (before.returncode, everything.returncode, unknown.returncode) == (1, 0, 1)
    assert "the schema is not current" in before.stderr
    assert everything.stdout == "0 hosts were read again, 0 have changed\n"
    assert unknown.stderr.endswith("unknown: is not registered\n")


def test_an_operator_asks_for_what_is_left_over_and_for_a_lease(tmp_path: Path) -> None:
    text = f"[database]\nconnection = sqlite:///{tmp_path}/b\n[manager]\ncloud = simulated\n"
    options = ["--config-file", _configuration(tmp_path, text)]
    run("blazar.cmd.db_manage", *options, "upgrade", "head")

    sweep = run("blazar.cmd.manage", *options, "sweep", "--dry-run")
    lease = run("blazar.cmd.manage", *options, "lease", "history", "unknown")
    floatingips = run("blazar.cmd.manage", *options, "floatingip", "check")

    assert floatingips.stdout == "0 floating IPs were compared with Neutron, 0 have failed\n"
    assert (sweep.returncode, sweep.stdout) == (0, "0 left over\n"), sweep.stderr
    assert (lease.returncode, lease.stdout) == (1, "")
    assert lease.stderr.endswith("unknown: there is no history of such a lease\n")


def test_an_operator_sees_which_hosts_are_sound(
    tmp_path: Path, ended_afterwards: Callable[[Any], Any]
) -> None:
    program, url = start_standalone(tmp_path)
    ended_afterwards(program)
    assert request(f"{url}/os-hosts", "POST", {"name": "host-1"})[0] == 201
    text = f"[database]\nconnection = sqlite:///{tmp_path}/blazar.sqlite\n[manager]\ncloud = simulated\n"

    listing = run("blazar.cmd.manage", "--config-file", _configuration(tmp_path, text), "host", "list")

    assert (listing.returncode, listing.stdout) == (0, "host-1 is sound\n"), listing.stderr


def test_a_manager_that_listens_to_nova_ends_when_it_is_told_to(
    tmp_path: Path, ended_afterwards: Callable[[Any], Any]
) -> None:
    name = f"blazar.test.{uuid.uuid4().hex}"
    text = (
        f"[DEFAULT]\ntransport_url = {broker_url()}\n"
        f"[database]\nconnection = sqlite:///{tmp_path}/b\n"
        f"[manager]\ncloud = simulated\nrpc_topic = {name}\n"
        "[physical:host]\nenable_notification_monitor = true\n"
        f"notification_exchange = {name}\nnotification_pool = {name}.pool\n"
    )
    options = ["--config-file", _configuration(tmp_path, text)]
    run("blazar.cmd.db_manage", *options, "upgrade", "head")
    program = Program("blazar.cmd.manager", *options)
    ended_afterwards(program)
    with broker_connection() as connection:
        assert wait_until(lambda: _consumers(connection, f"{name}.pool") > 0), program.log

        code = program.stop()

        channel = connection.channel()
        channel.queue_delete(f"{name}.pool")
        channel.exchange_delete(name)
    assert code == 0


def _consumers(connection: amqp.Connection, queue: str) -> int:
    try:
        return int(connection.channel().queue_declare(queue, passive=True).consumer_count)
    except amqp.exceptions.NotFound:
        return 0


@pytest.mark.parametrize(
    ("manager", "problem"),
    [
        ("cloud =", "[manager] cloud: must name a cloud driver"),
        ("cloud = cumulus", "[manager] cloud: there is nothing named cumulus"),
        ("cloud = simulated\nplugins = no.plugin", "[manager] plugins: there is nothing named no.plugin"),
        (
            "cloud = simulated\nplugins = physical.host.plugin,physical.host.plugin",
            "physical:host is served twice",
        ),
        (
            "cloud = openstack\n[nova]\nnova_client_version = many",
            "[nova] nova_client_version: must be 2, 2.<number> or latest, not many",
        ),
    ],
)
def test_weakness_59_a_bad_option_stops_a_manager(tmp_path: Path, manager: str, problem: str) -> None:
    text = f"[database]\nconnection = sqlite:///{tmp_path}/b\n[manager]\n{manager}\n"
    options = ["--config-file", _configuration(tmp_path, text)]
    run("blazar.cmd.db_manage", *options, "upgrade", "head")

    done = run("blazar.cmd.manager", *options)

    assert done.returncode == 1
    assert problem in done.stderr


def test_a_manager_refuses_a_schema_that_is_not_current(tmp_path: Path) -> None:
    text = f"[database]\nconnection = sqlite:///{tmp_path}/b\n[manager]\ncloud = simulated\n"

    done = run("blazar.cmd.manager", "--config-file", _configuration(tmp_path, text))

    assert done.returncode == 1
    assert "run blazar-db-manage upgrade head" in done.stderr
