"""The ``blazar`` command: its own options, and how it finds the service."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from blazarclient import shell, version

if TYPE_CHECKING:
    from .conftest import Run, Stub

LEASE = {
    "id": "11111111-2222-3333-4444-555555555555",
    "name": "mine",
    "start_date": "2031-01-01T10:00:00.000000",
    "end_date": "2031-01-01T12:00:00.000000",
    "status": "PENDING",
    "reservations": [],
    "events": [],
}


def test_the_version_is_printed(blazar: Run) -> None:
    ran = blazar("--version")

    assert (ran.code, ran.out.strip()) == (0, f"blazar {version.__version__}")


def test_the_help_lists_the_commands_and_needs_no_credentials(blazar: Run, stub: Stub) -> None:
    ran = blazar("--help")

    assert ran.code == 0
    hidden = {name for name, each in shell.COMMANDS_V1.items() if getattr(each, "deprecated", False)}
    listed = {line.split()[0] for line in ran.out.splitlines() if line.startswith("  ") and line.split()}
    assert set(shell.COMMANDS_V1) - hidden <= listed
    assert not hidden & listed
    assert stub.tokens == 0


@pytest.mark.parametrize(
    "words", [["lease-create", "-h"], ["lease-create", "--help"], ["help", "lease-create"]]
)
def test_client_weakness_06_a_command_is_asked_for_its_own_help(blazar: Run, words: list[str]) -> None:
    ran = blazar(*words)

    assert ran.code == 0
    assert ran.out.startswith("usage: blazar lease-create ")
    assert "--before-end-date" in ran.out


def test_client_weakness_07_endpoint_and_service_name_are_heeded(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": []})

    # Region two is at another path, where the stub does not answer.
    ran = blazar("--os-region-name", "two", "--os-endpoint-override", stub.url, "lease-list")

    assert (ran.code, ran.err, stub.calls) == (0, "There are none.\n", [("GET", "/leases", None)])
    assert blazar("--os-service-name", "nobody", "lease-list").code == 1
    stub.will({"leases": []})
    assert blazar("--os-service-name", "reservation", "lease-list").code == 0


def test_client_weakness_08_a_classic_openrc_will_do(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": []})

    assert blazar("lease-list").code == 0
    assert stub.tokens == 1


@pytest.mark.parametrize("words", [["lease-list", "foo"], ["lease-list", "--bar"], ["--bar", "lease-list"]])
def test_client_weakness_11_unknown_words_are_refused(blazar: Run, stub: Stub, words: list[str]) -> None:
    ran = blazar(*words)

    assert (ran.code, stub.sent) == (2, [])
    assert f"unrecognized arguments: {'foo' if 'foo' in words else '--bar'}" in ran.err


def test_client_weakness_12_abbreviated_options_belong_to_the_command(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE})

    ran = blazar("lease-create", "--start", "2031-01-01 10:00", "--end", "2031-01-01 12:00", "mine")

    assert ran.code == 0
    assert stub.sent[0].body["end_date"] == "2031-01-01 12:00"


def test_global_options_may_stand_anywhere(blazar: Run, stub: Stub) -> None:
    for words in (
        ["--os-region-name", "one", "lease-list"],
        ["lease-list", "--os-region-name", "one"],
        ["lease-list", "--os-region-name=one", "-f", "json", "--os-auth-type", "password", "--timeout", "60"],
        ["--os-reg", "one", "lease-list", "--debug"],
    ):
        stub.will({"leases": []})
        assert blazar("--os-region-name", "nowhere", *words).code == 0, words


def test_everything_behind_two_dashes_is_the_commands(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": [LEASE | {"name": "--odd"}]})
    stub.will({"lease": LEASE})

    ran = blazar("lease-show", "-f", "value", "-c", "id", "--", "--odd")

    assert (ran.code, ran.out) == (0, f"{LEASE['id']}\n")


@pytest.mark.parametrize("asked", ["1", "1a0"])
def test_api_version_1_is_known(blazar: Run, stub: Stub, asked: str) -> None:
    stub.will({"leases": []})
    stub.will({"leases": []})

    assert blazar("--os-reservation-api-version", asked, "lease-list").code == 0
    assert blazar("--os_reservation_api_version", asked, "lease-list").code == 0
    assert "OpenStack-API-Version" not in stub.sent[0].headers


def test_other_api_versions_are_refused(blazar: Run, stub: Stub) -> None:
    ran = blazar("--os-reservation-api-version", "2", "lease-list")

    assert (ran.code, stub.sent) == (1, [])
    assert "'2'" in ran.err


def test_client_weakness_54_a_microversion_can_be_asked_for(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    stub.will({"leases": []})
    stub.will({"leases": []})

    blazar("--os-reservation-api-version", "1.0", "lease-list")
    environment.setenv("OS_RESERVATION_API_VERSION", "1.0")
    blazar("lease-list")

    assert [each.headers["OpenStack-API-Version"] for each in stub.sent] == ["reservation 1.0"] * 2


def test_client_weakness_07_the_general_api_version_is_heeded(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OS_API_VERSION", "3")
    stub.will({"leases": []})
    stub.will({"leases": []})

    assert blazar("lease-list").code == 0
    assert blazar("--os-api-version", "1.0", "lease-list").code == 0
    assert blazar("--os-api-version", "2", "lease-list").code == 1
    assert [each.headers.get("OpenStack-API-Version") for each in stub.sent] == [None, "reservation 1.0"]


def test_client_weakness_58_clouds_yaml_is_read(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    auth = {
        "auth_url": f"{stub.root}/identity/v3",
        "username": "u",
        "password": "p",
        "project_name": "p",
        "user_domain_id": "default",
        "project_domain_id": "default",
    }
    for name in ("OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD", "OS_PROJECT_NAME", "OS_REGION_NAME"):
        environment.delenv(name)
    cloud = {"auth": auth, "region_name": "one", "reservation_default_microversion": "1.0"}
    clouds = {"mine": cloud, "inside": {**cloud, "interface": "internal"}}
    environment.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    (tmp_path / "clouds.yaml").write_text(json.dumps({"clouds": clouds}))
    stub.will({"leases": []})
    stub.will({"leases": []})

    assert blazar("--os-cloud", "mine", "lease-list").code == 0
    environment.setenv("OS_CLOUD", "mine")
    assert blazar("lease-list").code == 0
    assert stub.sent[0].headers["OpenStack-API-Version"] == "reservation 1.0"
    # The stub's catalogue has public endpoints only.
    assert "internal endpoint" in blazar("--os-cloud", "inside", "lease-list").err


@pytest.mark.parametrize(
    "words", [["--os-cloud", "nowhere"], ["--os-auth-type", "nothing"], ["--os-region-name", "x"]]
)
def test_what_keeps_one_from_the_service_is_said_in_a_line(blazar: Run, words: list[str]) -> None:
    ran = blazar(*words, "lease-list")

    assert ran.code == 1
    assert len(ran.err.strip().splitlines()) == 1
    assert "Traceback" not in ran.err


def test_a_missing_password_is_asked_for_or_missed(blazar: Run, environment: pytest.MonkeyPatch) -> None:
    environment.delenv("OS_PASSWORD")
    environment.setattr(sys, "stdin", io.StringIO())

    ran = blazar("lease-list")

    assert (ran.code, ran.err) == (1, "There is no password: give --os-password, or set OS_PASSWORD\n")


@pytest.mark.parametrize(("name", "value"), [("OS_CLOUD", "nowhere"), ("OS_AUTH_TYPE", "nothing")])
def test_an_environment_that_makes_no_sense_is_said_in_a_line(
    blazar: Run, environment: pytest.MonkeyPatch, name: str, value: str
) -> None:
    environment.setenv(name, value)

    ran = blazar("lease-list")

    assert (ran.code, len(ran.err.strip().splitlines())) == (1, 1)
    assert value in ran.err


def test_an_unknown_command_is_refused_with_those_that_are_like_it(blazar: Run) -> None:
    ran = blazar("lease-lst")

    assert ran.code == 1
    assert "Unknown command ['lease-lst']" in ran.err
    assert "lease-list" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("auth", "words"),
    [
        ("none", ["--os-endpoint"]),
        ("none", ["--os-endpoint-override"]),
        ("http_basic", ["--os-username", "u", "--os-password", "p", "--os-endpoint"]),
        ("admin_token", ["--os-token", "t", "--os-endpoint"]),
    ],
)
@pytest.mark.parametrize("tail", ["", "/v1"])
def test_a_service_without_keystone_can_be_talked_to(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, auth: str, words: list[str], tail: str
) -> None:
    for name in ("OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD", "OS_PROJECT_NAME", "OS_REGION_NAME"):
        environment.delenv(name)
    stub.will({"leases": []})

    ran = blazar("--os-auth-type", auth, *words, f"{stub.root}/reservation{tail}", "lease-list")

    assert (ran.code, ran.err) == (0, "There are none.\n")
    assert stub.tokens == 0
    assert stub.sent[0].headers.get("Authorization", "").startswith("Basic") is (auth == "http_basic")


def test_deprecated_options_go_first(blazar: Run, stub: Stub, environment: pytest.MonkeyPatch) -> None:
    stub.will({"leases": []})
    assert blazar("--os-service-type", "x", "--service-type", "reservation", "lease-list").code == 0
    stub.will({"leases": []})
    assert blazar("--os-interface", "admin", "--endpoint-type", "publicURL", "lease-list").code == 0
    environment.setenv("BLAZAR_SERVICE_TYPE", "reservation")
    environment.setenv("OS_ENDPOINT_TYPE", "publicURL")
    stub.will({"leases": []})
    assert blazar("--os-interface", "admin", "lease-list").code == 0


def test_without_a_command_one_is_asked_for_commands(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "typed").write_text("lease-create\nlease-list --bogus\nlease-list -f value -c name\nquit\n")
    stub.will({"leases": [LEASE]})

    with (tmp_path / "typed").open() as typed:
        environment.setattr(sys, "stdin", typed)
        ran = blazar()

    assert ran.code == 0
    assert "mine\n" in ran.out


def test_the_old_list_of_words_is_there(blazar: Run) -> None:
    words = blazar("bash-completion").out.split()

    assert {"lease-list", "host-unset", "--reservation", "--os-auth-url"} <= set(words)


@pytest.mark.parametrize(("shell_name", "last"), [("bash", "complete -F _blazar blazar"), ("zsh", "fi")])
def test_client_weakness_57_lines_are_completed_in_bash_and_zsh(
    blazar: Run, shell_name: str, last: str
) -> None:
    ran = blazar("complete", "--shell", shell_name)

    assert ran.code == 0
    assert "cmds_lease_create=" in ran.out
    assert "--before-end-date" in ran.out
    assert ran.out.strip().splitlines()[-1] == last
