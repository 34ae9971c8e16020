"""The ``blazar`` command: global options, command names, and the lookup of the service."""

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


def test_help_lists_the_commands_without_credentials(blazar: Run, stub: Stub) -> None:
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
def test_client_weakness_06_a_command_has_its_own_help(blazar: Run, words: list[str]) -> None:
    ran = blazar(*words)

    assert ran.code == 0
    assert ran.out.startswith("usage: blazar lease-create ")
    assert "--before-end-date" in ran.out


def test_client_weakness_07_endpoint_and_service_name_are_used(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": []})

    # The stub does not serve the endpoint of region two.
    ran = blazar("--os-region-name", "two", "--os-endpoint-override", stub.url, "lease-list")

    assert (ran.code, ran.err, stub.calls) == (0, "No leases found.\n", [("GET", "/leases", None)])
    assert blazar("--os-service-name", "missing", "lease-list").code == 1
    stub.respond({"leases": []})
    assert blazar("--os-service-name", "reservation", "lease-list").code == 0


def test_client_weakness_08_a_classic_openrc_is_sufficient(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": []})

    assert blazar("lease-list").code == 0
    assert stub.tokens == 1


@pytest.mark.parametrize("words", [["lease-list", "foo"], ["lease-list", "--bar"], ["--bar", "lease-list"]])
def test_client_weakness_11_unknown_arguments_are_refused(blazar: Run, stub: Stub, words: list[str]) -> None:
    ran = blazar(*words)

    assert (ran.code, stub.sent) == (2, [])
    assert f"unrecognized arguments: {'foo' if 'foo' in words else '--bar'}" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["lease-create", "--max", "2", "mine"],
        ["lease-create", "--start", "2031-01-01 10:00", "mine"],
        ["lease-create", "--end", "2031-01-01 12:00", "mine"],
        ["--os-reg", "one", "lease-list"],
        ["lease-list", "--os-reg", "one"],
        ["complete", "--sh", "bash"],
    ],
)
def test_client_weakness_12_abbreviated_options_are_refused(
    blazar: Run, stub: Stub, words: list[str]
) -> None:
    ran = blazar(*words)

    (short,) = {"--max", "--start", "--end", "--os-reg", "--sh"} & set(words)
    assert (ran.code, ran.out, stub.sent) == (2, "", [])
    assert f"unrecognized arguments: {short}" in ran.err


@pytest.mark.parametrize("name", sorted(shell.COMMANDS_V1))
def test_every_command_may_be_written_with_spaces(blazar: Run, name: str) -> None:
    words = name.split("-")

    with_hyphens, with_spaces, through_help = blazar(name, "-h"), blazar(*words, "-h"), blazar("help", *words)

    assert (with_spaces.code, with_spaces.err) == (0, "")
    assert with_spaces.out.startswith(f"usage: blazar {' '.join(words)} ")
    assert through_help.out == with_spaces.out
    assert with_spaces.out.split("\n\n", 1)[1] == with_hyphens.out.split("\n\n", 1)[1]


def test_a_command_with_spaces_accepts_arguments_and_global_options(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE]})
    stub.respond({"lease": LEASE})

    ran = blazar("lease", "show", "--os-region-name", "one", "mine", "-f", "value", "-c", "id")

    assert (ran.code, ran.out) == (0, f"{LEASE['id']}\n")


def test_an_incomplete_command_is_refused_with_the_commands_that_start_with_it(
    blazar: Run, stub: Stub
) -> None:
    ran = blazar("floatingip")

    assert (ran.code, stub.sent) == (1, [])
    assert ran.err.endswith("these? floatingip-create, floatingip-delete, floatingip-list, floatingip-show\n")


def test_global_options_may_stand_anywhere(blazar: Run, stub: Stub) -> None:
    for words in (
        ["--os-region-name", "one", "lease-list"],
        ["lease-list", "--os-region-name", "one"],
        ["lease-list", "--os-region-name=one", "-f", "json", "--os-auth-type", "password", "--timeout", "60"],
        ["--os-region-name", "one", "lease-list", "--debug"],
    ):
        stub.respond({"leases": []})
        assert blazar("--os-region-name", "nowhere", *words).code == 0, words


@pytest.mark.parametrize("flags", [["-v"], ["-vv"], ["-vvv"], ["-v", "-v"], ["-q"], ["-qq"], ["--quiet"]])
def test_verbosity_may_be_set_after_the_command(blazar: Run, stub: Stub, flags: list[str]) -> None:
    stub.respond({"leases": []})
    stub.respond({"leases": []})

    before, after = blazar(*flags, "lease-list"), blazar("lease-list", *flags)

    assert (before.code, after.code) == (0, 0)
    logged = ["/leases" in each.err for each in (before, after)]
    assert logged == ["q" not in flags[0]] * 2


def test_flags_that_are_not_all_global_are_those_of_the_command(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": []})

    assert blazar("lease-list", "-fjson").out == "[]\n"
    assert blazar("lease-list", "-vx").code == 2


def test_words_after_two_dashes_are_arguments_of_the_command(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE | {"name": "--odd"}]})
    stub.respond({"lease": LEASE})

    ran = blazar("lease-show", "-f", "value", "-c", "id", "--", "--odd")

    assert (ran.code, ran.out) == (0, f"{LEASE['id']}\n")


@pytest.mark.parametrize("asked", ["1", "1a0"])
def test_api_version_1_is_supported(blazar: Run, stub: Stub, asked: str) -> None:
    stub.respond({"leases": []})
    stub.respond({"leases": []})

    assert blazar("--os-reservation-api-version", asked, "lease-list").code == 0
    assert blazar("--os_reservation_api_version", asked, "lease-list").code == 0
    assert "OpenStack-API-Version" not in stub.sent[0].headers


def test_other_api_versions_are_refused(blazar: Run, stub: Stub) -> None:
    ran = blazar("--os-reservation-api-version", "2", "lease-list")

    assert (ran.code, stub.sent) == (1, [])
    assert "'2'" in ran.err


def test_client_weakness_54_a_microversion_can_be_requested(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    stub.respond({"leases": []})
    stub.respond({"leases": []})

    blazar("--os-reservation-api-version", "1.0", "lease-list")
    environment.setenv("OS_RESERVATION_API_VERSION", "1.0")
    blazar("lease-list")

    assert [each.headers["OpenStack-API-Version"] for each in stub.sent] == ["reservation 1.0"] * 2


def test_client_weakness_07_the_general_api_version_option_is_used(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OS_API_VERSION", "3")
    stub.respond({"leases": []})
    stub.respond({"leases": []})

    assert blazar("lease-list").code == 0
    assert blazar("--os-api-version", "1.0", "lease-list").code == 0
    assert blazar("--os-api-version", "2", "lease-list").code == 1
    assert [each.headers.get("OpenStack-API-Version") for each in stub.sent] == [None, "reservation 1.0"]


def test_client_weakness_58_clouds_yaml_is_read(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, prod: dict[str, str], tmp_path: Path
) -> None:
    for name in ("OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD", "OS_PROJECT_NAME", "OS_REGION_NAME"):
        environment.delenv(name)
    cloud = {"auth": prod, "region_name": "one", "reservation_default_microversion": "1.0"}
    clouds = {"mine": cloud, "inside": {**cloud, "interface": "internal"}}
    environment.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    (tmp_path / "clouds.yaml").write_text(json.dumps({"clouds": clouds}))
    stub.respond({"leases": []})
    stub.respond({"leases": []})

    assert blazar("--os-cloud", "mine", "lease-list").code == 0
    environment.setenv("OS_CLOUD", "mine")
    assert blazar("lease-list").code == 0
    assert stub.sent[0].headers["OpenStack-API-Version"] == "reservation 1.0"
    # The stub's catalogue has only public endpoints.
    assert "internal endpoint" in blazar("--os-cloud", "inside", "lease-list").err


@pytest.mark.parametrize(
    "words", [["--os-cloud", "nowhere"], ["--os-auth-type", "nothing"], ["--os-region-name", "x"]]
)
def test_invalid_options_are_one_line_errors(blazar: Run, words: list[str]) -> None:
    ran = blazar(*words, "lease-list")

    assert ran.code == 1
    assert len(ran.err.strip().splitlines()) == 1
    assert "Traceback" not in ran.err


def test_a_missing_password_without_a_terminal_is_an_error(
    blazar: Run, environment: pytest.MonkeyPatch
) -> None:
    environment.delenv("OS_PASSWORD")
    environment.setattr(sys, "stdin", io.StringIO())

    ran = blazar("lease-list")

    assert (ran.code, ran.err) == (1, "No password is given: use --os-password, or set OS_PASSWORD\n")


@pytest.mark.parametrize(("name", "value"), [("OS_CLOUD", "nowhere"), ("OS_AUTH_TYPE", "nothing")])
def test_an_invalid_environment_is_a_one_line_error(
    blazar: Run, environment: pytest.MonkeyPatch, name: str, value: str
) -> None:
    environment.setenv(name, value)

    ran = blazar("lease-list")

    assert (ran.code, len(ran.err.strip().splitlines())) == (1, 1)
    assert value in ran.err


def test_an_unknown_command_is_refused_with_similar_commands(blazar: Run) -> None:
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
def test_a_service_without_keystone_is_supported(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, auth: str, words: list[str], tail: str
) -> None:
    for name in ("OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD", "OS_PROJECT_NAME", "OS_REGION_NAME"):
        environment.delenv(name)
    stub.respond({"leases": []})

    ran = blazar("--os-auth-type", auth, *words, f"{stub.root}/reservation{tail}", "lease-list")

    assert (ran.code, ran.err) == (0, "No leases found.\n")
    assert stub.tokens == 0
    assert stub.sent[0].headers.get("Authorization", "").startswith("Basic") is (auth == "http_basic")


def test_deprecated_options_take_precedence(blazar: Run, stub: Stub, environment: pytest.MonkeyPatch) -> None:
    stub.respond({"leases": []})
    assert blazar("--os-service-type", "x", "--service-type", "reservation", "lease-list").code == 0
    stub.respond({"leases": []})
    assert blazar("--os-interface", "admin", "--endpoint-type", "publicURL", "lease-list").code == 0
    environment.setenv("BLAZAR_SERVICE_TYPE", "reservation")
    environment.setenv("OS_ENDPOINT_TYPE", "publicURL")
    stub.respond({"leases": []})
    assert blazar("--os-interface", "admin", "lease-list").code == 0


def test_the_version_header_does_not_depend_on_the_type_in_the_catalogue(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": []})
    version = ["--os-reservation-api-version", "1.0", "--os-endpoint-override", stub.url]

    assert blazar("--service-type", "resv2", *version, "lease-list").code == 0
    assert stub.sent[0].headers["OpenStack-API-Version"] == "reservation 1.0"


def test_without_a_command_the_prompt_is_interactive(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "typed").write_text("lease-create\nlease-list --bogus\nlease-list -f value -c name\nquit\n")
    stub.respond({"leases": [LEASE]})

    with (tmp_path / "typed").open() as typed:
        environment.setattr(sys, "stdin", typed)
        ran = blazar()

    assert ran.code == 0
    assert "mine\n" in ran.out


def test_the_word_list_for_bash_completion_is_kept(blazar: Run) -> None:
    words = blazar("bash-completion").out.split()

    assert {"lease-list", "host-unset", "--reservation", "--os-auth-url"} <= set(words)


@pytest.mark.parametrize(
    ("shell_name", "last"), [("bash", "complete -F _blazar_values blazar"), ("zsh", "fi")]
)
def test_client_weakness_57_completion_supports_bash_and_zsh(blazar: Run, shell_name: str, last: str) -> None:
    ran = blazar("complete", "--shell", shell_name)

    assert ran.code == 0
    assert "cmds_lease_create=" in ran.out
    assert "--before-end-date" in ran.out
    for words in ("host", "host property"):
        listed = ran.out.partition(f"cmds_{words.replace(' ', '_')}='")[2].partition("'")[0].split()
        assert {"list", "show", "set"} <= set(listed)
    assert ran.out.strip().splitlines()[-1] == last
