"""``openstack reservation``: the plugin in the released OpenStackClient, run as a program."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from blazarclient import shell

if TYPE_CHECKING:
    from .conftest import Result, Run, Stub

OF_4_6 = {
    f"{resource} {verb}"
    for resource, verbs in {
        "lease": "list show create set delete",
        "host": "list show create set unset delete",
        "host property": "list show set",
        "floatingip": "list show create delete",
        "allocation": "list show",
    }.items()
    for verb in verbs.split()
}
FROM_THE_DOCUMENTATION = {
    "lease update",
    *(f"host capability {verb}" for verb in ("list", "show", "set", "update")),
}
"""Names that documentation of 4.6 mentions although 4.6 does not have them."""


@pytest.fixture
def openstack(stub: Stub, blazar: Run) -> Run:
    """Run ``openstack`` as a program, in the environment of ``blazar``."""
    return run_openstack


def run_openstack(*words: str) -> Result:
    from .conftest import Result

    done = subprocess.run(
        [str(Path(sys.executable).with_name("openstack")), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def entries() -> dict[str, metadata.EntryPoint]:
    found = metadata.entry_points(group="openstack.reservation.v1")
    return {each.name.removeprefix("reservation_").replace("_", " "): each for each in found}


def test_client_weakness_01_every_command_can_be_loaded() -> None:
    assert {each.load().__name__ for each in entries().values()}
    assert set(entries()) >= OF_4_6 | FROM_THE_DOCUMENTATION


def test_both_programs_have_the_same_commands() -> None:
    in_openstack = {each.load() for each in entries().values()}

    assert in_openstack == set(shell.COMMANDS_V1.values())


def test_client_weakness_01_openstack_lists_the_commands_without_errors(openstack: Run) -> None:
    ran = openstack("--help")

    assert (ran.code, ran.err) == (0, "")
    listed = {
        line.removeprefix("  reservation ").partition("  ")[0]
        for line in ran.out.splitlines()
        if line.startswith("  reservation ")
    }
    assert listed >= OF_4_6
    assert not listed & FROM_THE_DOCUMENTATION


def test_a_command_has_help(openstack: Run) -> None:
    ran = openstack("help", "reservation", "lease", "create")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("usage: openstack reservation lease create ")
    assert "--reservation key=value,..." in ran.out


def test_a_lease_is_created_with_keystone_authentication_and_printed_as_json(
    openstack: Run, stub: Stub
) -> None:
    stub.respond({"lease": {"id": "l", "name": "mine", "reservations": [{"id": "r"}]}}, status=201)

    ran = openstack(
        *("reservation", "lease", "create", "mine", "-f", "json"),
        *("--start-date", "2031-01-01 10:00", "--end-date", "2031-01-01 12:00"),
        *("--reservation", "resource_type=physical:host,min=1,max=2"),
    )

    assert (ran.code, ran.err) == (0, "Created a new lease:\n")
    assert ran.json == {"id": "l", "name": "mine", "reservations": [{"id": "r"}]}
    assert [(each.method, each.path) for each in stub.sent] == [("POST", "/leases")]
    assert stub.sent[0].headers["X-Auth-Token"].startswith("token-")


def test_a_lease_without_reservations_is_created_with_a_warning(openstack: Run, stub: Stub) -> None:
    stub.respond({"lease": {"id": "l", "name": "mine", "reservations": []}}, status=201)

    ran = openstack("reservation", "lease", "create", "mine", "-f", "json")

    assert (ran.code, stub.sent[0].body["reservations"]) == (0, [])
    assert "Warning: the lease has no reservations" in ran.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["lease", "show", "a", "b"], 2, "unrecognized arguments: b"),
        (["lease", "show", "11111111-2222-3333-4444-555555555555"], 1, "ERROR: there is none (HTTP 404"),
        (["lease", "create", "x", "--reservation", "min=1"], 1, "resource_type is missing"),
    ],
)
def test_errors_are_messages_with_exit_codes(
    openstack: Run, stub: Stub, words: list[str], code: int, message: str
) -> None:
    stub.respond({"error_message": "there is none"}, status=404)

    ran = openstack("reservation", *words)

    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_a_command_that_only_reads_tries_again_after_an_outage(openstack: Run, stub: Stub) -> None:
    stub.respond({"error_message": "No manager answered"}, status=503, Retry_After="0")
    stub.respond({"leases": []})

    ran = openstack("reservation", "lease", "list", "-f", "json")

    assert (ran.code, ran.json, len(stub.sent)) == (0, [], 2)


@pytest.mark.parametrize("name", ["OS_RESERVATION_API_VERSION", "OS_RESERVATIONS_API_VERSION"])
def test_client_weakness_03_the_api_version_is_sent(
    openstack: Run, stub: Stub, environment: pytest.MonkeyPatch, name: str
) -> None:
    environment.setenv(name, "1.0")
    stub.respond({"leases": []})

    ran = openstack("reservation", "lease", "list")

    assert (ran.code, ran.err) == (0, "No leases found.\n")
    assert stub.sent[0].headers["OpenStack-API-Version"] == "reservation 1.0"


def test_client_weakness_03_an_unknown_api_version_is_refused(openstack: Run, stub: Stub) -> None:
    ran = openstack("--os-reservation-api-version", "2", "reservation", "lease", "list")

    assert (ran.code, stub.sent) == (2, [])
    assert "reservation API version 2 is not in supported versions: 1" in ran.err


@pytest.mark.parametrize("key", ["reservation_api_version", "reservations_api_version"])
def test_client_weakness_03_clouds_yaml_configures_endpoint_service_type_and_version(
    openstack: Run, stub: Stub, environment: pytest.MonkeyPatch, tmp_path: Path, key: str
) -> None:
    cloud = {"auth_type": "none", "auth": {"endpoint": "http://127.0.0.1:9"}, key: "1.0"}
    cloud |= {"reservation_endpoint_override": stub.url, "reservation_service_type": "rental"}
    for name in ("OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD", "OS_PROJECT_NAME", "OS_REGION_NAME"):
        environment.delenv(name)
    environment.delenv("OS_USER_DOMAIN_ID")
    environment.delenv("OS_PROJECT_DOMAIN_ID")
    environment.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    (tmp_path / "clouds.yaml").write_text(json.dumps({"clouds": {"mine": cloud}}))
    stub.respond({"leases": []})

    ran = openstack("--os-cloud", "mine", "reservation", "lease", "list")

    assert (ran.code, ran.err) == (0, "No leases found.\n")
    assert stub.sent[0].headers["OpenStack-API-Version"] == "reservation 1.0"


def test_the_region_selects_the_endpoint(openstack: Run, stub: Stub, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("OS_REGION_NAME", "two")

    ran = openstack("reservation", "lease", "list")

    assert (ran.code, stub.sent) == (1, [])
    assert "wrong path /elsewhere/v1/leases" in ran.err
