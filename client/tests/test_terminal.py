"""Output of commands on a terminal, in contrast to pipes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from blazarclient import terminal

from .command_samples import EVENT, HOST, HOSTS_ARGUMENT, ID, LEASE, OTHER, RESERVATION, WHEN

if TYPE_CHECKING:
    from .conftest import Run, Stub

RESERVATION_ID = "33333333-2222-3333-4444-555555555555"
ALIKE = "11111111-2222-9999-4444-555555555555"
ACTIVE = LEASE | {"status": "ACTIVE"}


def on_a_terminal(*words: str) -> str:
    """Run ``blazar`` on a terminal, check that it succeeds, and return its output."""
    code, screen, errors = run_on_a_terminal(*words)
    assert code == 0, errors
    return screen


def run_on_a_terminal(*words: str) -> tuple[int, str, str]:
    """Run ``blazar`` with a terminal as standard output; return its exit code, output and errors."""
    master, slave = pty.openpty()
    program = [str(Path(sys.executable).with_name("blazar")), *words]
    with subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE) as running:
        os.close(slave)
        printed = b""
        try:
            while chunk := os.read(master, 65536):
                printed += chunk
        except OSError:
            # On Linux, reading from a closed terminal is an error.
            pass
        finally:
            os.close(master)
        assert running.stderr is not None
        output = running.stderr.read().decode()
    return running.returncode, printed.decode().replace("\r\n", "\n"), output


def row(screen: str, text: str) -> list[str]:
    """Return the cells of the only row that contains *text*."""
    (line,) = [each for each in screen.splitlines() if text in each]
    return [each.strip() for each in line.strip("|").split("|")]


@pytest.fixture
def plain(blazar: Run, environment: pytest.MonkeyPatch) -> None:
    """Configure credentials and a terminal without colours."""
    environment.setenv("TERM", "xterm")
    environment.setenv("NO_COLOR", "1")


@pytest.mark.usefixtures("plain")
def test_client_weakness_59_a_list_of_leases_has_local_times_short_ids_and_statuses(stub: Stub) -> None:
    stub.respond({"leases": [ACTIVE]})

    screen = on_a_terminal("lease-list")

    assert row(screen, "status") == ["id", "name", "start_date", "end_date", "status"]
    assert row(screen, "mine") == [
        "11111111",
        "mine",
        "2031-01-01 11:00 CET",
        "2031-01-01 13:00 CET",
        "ACTIVE",
    ]
    assert "\x1b" not in screen


@pytest.mark.usefixtures("plain")
def test_a_single_lease_has_local_times_and_its_whole_id(stub: Stub) -> None:
    stub.respond({"lease": LEASE | {"created_at": "2030-07-01 10:00:00", "updated_at": None}})

    screen = on_a_terminal("lease-show", ID)

    assert row(screen, "| id") == ["id", ID]
    assert row(screen, "created_at") == ["created_at", "2030-07-01 12:00 CEST"]
    assert row(screen, "updated_at") == ["updated_at", ""]
    assert row(screen, "start_lease") == ["events", "2031-01-01 11:00 CET  start_lease  UNDONE"]


@pytest.mark.usefixtures("plain")
def test_the_command_that_uses_a_reservation_is_printed_below_the_table(stub: Stub) -> None:
    hosts = RESERVATION | {"id": RESERVATION_ID}
    stub.respond({"lease": LEASE | {"reservations": [hosts]}})
    held = [{"reservation_id": RESERVATION_ID, "name": f"node-{n}", "amount": 1} for n in (10, 9)]
    stub.respond({"allocations": held})

    screen = on_a_terminal("lease-resources", ID)

    assert row(screen, "physical:host |") == ["33333333", "physical:host", "pending", "node-9"]
    assert screen.splitlines()[-2:] == [
        f"# physical:host {RESERVATION_ID}",
        f"openstack server create --hint reservation={RESERVATION_ID}",
    ]


@pytest.mark.usefixtures("plain")
def test_hosts_are_in_natural_order(stub: Stub) -> None:
    stub.respond({"hosts": [HOST | {"id": str(n), "hypervisor_hostname": f"node-{n}"} for n in (10, 9, 1)]})

    screen = on_a_terminal("host-list", "-c", "hypervisor_hostname")

    assert [line.split()[1] for line in screen.splitlines() if "node" in line] == [
        "node-1",
        "node-9",
        "node-10",
    ]


@pytest.mark.usefixtures("plain")
def test_a_dry_run_prints_dates_in_the_format_of_requests(stub: Stub) -> None:
    stub.respond({"error": 406, "error_message": "API version 1.1 is not served"}, 406)

    screen = on_a_terminal("lease-create", "--dry-run", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")

    assert row(screen, "start_date") == ["start_date", "2031-01-01 10:00"]


@pytest.mark.parametrize(
    ("variables", "has_colours"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_the_environment_can_turn_colours_off(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, variables: dict[str, str], has_colours: bool
) -> None:
    environment.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        environment.setenv(name, value)
    stub.respond({"lease": ACTIVE})

    screen = on_a_terminal("lease-show", ID)

    assert ("| \x1b[32mACTIVE\x1b[0m " in screen) == has_colours
    assert ("\x1b" in screen) == has_colours


@pytest.mark.parametrize("formatting", [["-f", "json"], ["-f", "value"], ["-f", "csv"], ["-f", "yaml"]])
def test_other_formats_are_the_same_on_a_terminal(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, formatting: list[str]
) -> None:
    environment.setenv("TERM", "xterm")
    for _ in range(2):
        stub.respond({"leases": [ACTIVE]})

    assert on_a_terminal("lease-list", *formatting) == blazar("lease-list", *formatting).out.replace(
        "\r\n", "\n"
    )


def test_a_table_in_a_pipe_is_that_of_4_6(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [ACTIVE]})

    assert blazar("lease-list").out == (
        f"+{'-' * 38}+------+----------------------------+----------------------------+\n"
        f"| id{' ' * 34} | name | start_date                 | end_date                   |\n"
        f"+{'-' * 38}+------+----------------------------+----------------------------+\n"
        f"| {ID} | mine | 2031-01-01T10:00:00.000000 | 2031-01-01T12:00:00.000000 |\n"
        f"+{'-' * 38}+------+----------------------------+----------------------------+\n"
    )


# --- short ids --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("short", ["11111111", "11111111-2222-3", ID[:-1].upper()])
def test_a_lease_is_found_by_a_short_id(blazar: Run, stub: Stub, short: str) -> None:
    stub.respond({"leases": [LEASE | {"id": "22222222-2222-3333-4444-555555555555"}, LEASE]})
    stub.respond({"lease": LEASE})

    assert blazar("lease-show", short).code == 0
    assert [path for _method, path, _body in stub.calls] == ["/leases", f"/leases/{ID}"]


def test_a_name_takes_precedence_over_a_short_id(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE, LEASE | {"id": ALIKE, "name": "11111111"}]})
    stub.respond(status=204)

    assert blazar("lease-delete", "11111111").code == 0
    assert stub.calls[1] == ("DELETE", f"/leases/{ALIKE}", None)


@pytest.mark.parametrize(
    ("short", "reason"), [("11111111", "more than one appropriate resources"), ("1111111", "Unable to find")]
)
def test_a_short_id_without_a_unique_match_is_refused(
    blazar: Run, stub: Stub, short: str, reason: str
) -> None:
    stub.respond({"leases": [LEASE, LEASE | {"id": ALIKE}]})

    ran = blazar("lease-delete", short)

    assert (ran.code, len(stub.sent)) == (1, 1)
    assert reason in ran.err


def test_floating_ips_and_reservations_are_found_by_short_ids(blazar: Run, stub: Stub) -> None:
    stub.respond({"floatingips": [{"id": ID, "floating_ip_address": "192.0.2.5"}]})
    stub.respond({"floatingip": {"id": ID}})
    stub.respond({"leases": [LEASE | {"reservations": [{"id": RESERVATION_ID}]}]})
    stub.respond({"allocations": []})

    blazar("floatingip-show", "11111111")
    blazar("allocation-list", "host", "--reservation-id", "33333333")

    assert [path for _method, path, _body in stub.calls] == [
        "/floatingips",
        f"/floatingips/{ID}",
        "/leases",
        f"/os-hosts/allocations?reservation_id={RESERVATION_ID}",
    ]


# --- pure functions ---------------------------------------------------------------------------------------


def shown(value: Any) -> Any:
    return terminal.Terminal(zone=ZoneInfo("America/New_York"), has_colours=True).localized(value)


def test_only_values_of_date_keys_become_local() -> None:
    value = {"time": "2031-01-01T10:00:00.000000", "name": "2031-01-01T10:00:00.000000", "start_date": "now"}

    assert shown([{"events": [value]}]) == [{"events": [value | {"time": "2031-01-01 05:00 EST"}]}]
    assert shown(EVENT)["time"] == "2031-01-01 05:00 EST"


def test_short_ids_are_unique() -> None:
    screen = terminal.Terminal(zone=UTC, has_colours=False)

    rows = screen.rows([{"id": ID}, {"id": ALIKE}, {"id": "17"}])

    assert [each["id"] for each in rows] == ["11111111-2222-3", "11111111-2222-9", "17"]


def test_only_status_cells_have_colours() -> None:
    screen = terminal.Terminal(zone=UTC, has_colours=True)
    table = "| ERROR log | deleted |\n| x | STARTING |"

    assert screen.coloured(table) == "| ERROR log | \x1b[90mdeleted\x1b[0m |\n| x | \x1b[33mSTARTING\x1b[0m |"


def test_natural_order_compares_numbers_by_value() -> None:
    names = ["rack2-node1", "rack10-node1", "Rack2-node10", "2", "", "rack"]

    assert sorted(names, key=terminal.natural) == [
        "",
        "2",
        "rack",
        "rack2-node1",
        "Rack2-node10",
        "rack10-node1",
    ]


@pytest.mark.usefixtures("plain")
def test_a_second_lease_with_the_same_name_causes_a_warning(stub: Stub) -> None:
    elsewhere = LEASE | {"id": "x", "project_id": "q"}
    stub.respond({"lease": LEASE}, status=201)
    stub.leases = [LEASE, LEASE | {"id": OTHER}, elsewhere, LEASE | {"id": "y", "name": "other"}]

    ran = run_on_a_terminal("lease-create", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")

    assert (ran[0], ran[2]) == (0, "Warning: 1 other lease(s) have the name 'mine'; use ids in commands\n")


@pytest.mark.usefixtures("plain")
def test_a_failed_search_for_leases_with_the_same_name_is_not_an_error(stub: Stub) -> None:
    stub.respond({"lease": LEASE}, status=201)
    stub.respond({"error_message": "no"}, status=403)

    ran = run_on_a_terminal("lease-create", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")

    assert (ran[0], ran[2]) == (0, "")
