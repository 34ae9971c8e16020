"""The ``blazar`` command: precedence of options, environment and clouds.yaml."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from blazarclient import shell

from .conftest import OPENRC, kept_logging

if TYPE_CHECKING:
    from .conftest import Run, Stub

DOMAIN = {"id": "default"}
ZED = ["--os-username", "zed", "--os-password", "q", "--os-project-name", "other"]

Clouds = Callable[..., None]
"""Writes clouds.yaml with clouds, each described by its ``auth``, by name."""


@pytest.fixture
def clouds(stub: Stub, environment: pytest.MonkeyPatch, tmp_path: Path) -> Clouds:
    environment.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))

    def write(**described: dict[str, Any]) -> None:
        common = {"region_name": "one", "api_timeout": 5}
        found = {name: {"auth": auth, **common} for name, auth in described.items()}
        (tmp_path / "clouds.yaml").write_text(json.dumps({"clouds": found}))

    return write


@pytest.fixture
def without_openrc(blazar: Run, environment: pytest.MonkeyPatch) -> Run:
    """Run ``blazar`` without the variables of an openrc file."""
    for name in ("OS_AUTH_URL", *OPENRC):
        environment.delenv(name)
    return blazar


def lists(blazar: Run, stub: Stub, *words: str) -> Any:
    """Run ``lease-list`` with *words* successfully, and return the credentials that it sent."""
    stub.respond({"leases": []})
    ran = blazar(*words, "lease-list")
    assert (ran.code, ran.err) == (0, "No leases found.\n")
    return stub.credentials[-1]


def user(name: str, password: str) -> dict[str, Any]:
    """Return what Keystone gets for a user with a name."""
    sent = {"name": name, "password": password, "domain": DOMAIN}
    return {"methods": ["password"], "password": {"user": sent}}


def test_options_take_precedence_over_a_cloud(
    without_openrc: Run, stub: Stub, clouds: Clouds, prod: dict[str, str]
) -> None:
    clouds(prod=prod, test=prod)

    assert lists(without_openrc, stub, "--os-cloud", "prod", *ZED) == {
        "identity": user("zed", "q"),
        "scope": {"project": {"name": "other", "domain": DOMAIN}},
    }


def test_a_name_replaces_the_id_of_a_cloud_and_an_id_the_name(
    without_openrc: Run, stub: Stub, clouds: Clouds, prod: dict[str, str]
) -> None:
    by_id = {key: prod[key] for key in ("auth_url", "password")} | {"user_id": "u", "project_id": "p"}
    clouds(prod={**by_id, "user_domain_id": "x", "project_domain_id": "x"}, test=prod)
    domains = ["--os-user-domain-name", "Y", "--os-project-domain-name", "Y"]

    assert lists(without_openrc, stub, "--os-cloud", "prod", *ZED, *domains) == {
        "identity": {
            "methods": ["password"],
            "password": {"user": {"name": "zed", "password": "q", "domain": {"name": "Y"}}},
        },
        "scope": {"project": {"name": "other", "domain": {"name": "Y"}}},
    }
    sent = lists(without_openrc, stub, "--os-cloud", "test", "--os-user-id", "7", "--os-project-id", "8")
    assert sent == {
        "identity": {"methods": ["password"], "password": {"user": {"id": "7", "password": "p"}}},
        "scope": {"project": {"id": "8"}},
    }


def test_a_name_replaces_the_id_in_the_environment(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    # An openrc file of Horizon sets both the id and the name of the project.
    environment.setenv("OS_PROJECT_ID", "1")
    environment.setenv("OS_USER_ID", "2")

    assert lists(blazar, stub, *ZED) == {
        "identity": user("zed", "q"),
        "scope": {"project": {"name": "other", "domain": DOMAIN}},
    }


def test_variables_take_precedence_over_a_cloud(
    without_openrc: Run, stub: Stub, clouds: Clouds, prod: dict[str, str], environment: pytest.MonkeyPatch
) -> None:
    clouds(prod=prod | {"user_id": "1"}, test=prod)
    environment.setenv("OS_CLOUD", "prod")
    environment.setenv("OS_USERNAME", "zed")

    assert lists(without_openrc, stub)["identity"] == user("zed", "p")
    assert lists(without_openrc, stub, "--os-username", "ann")["identity"] == user("ann", "p")


def test_the_only_cloud_is_not_used_for_another_address(
    without_openrc: Run, stub: Stub, clouds: Clouds
) -> None:
    secret = {"application_credential_id": "1", "application_credential_secret": "s"}
    clouds(only={"auth_url": "http://127.0.0.1:9/v3", "system_scope": "all", **secret})
    address = ["--os-auth-url", f"{stub.root}/identity/v3", "--os-region-name", "one"]
    domains = ["--os-user-domain-id", "default", "--os-project-domain-id", "default"]

    assert lists(without_openrc, stub, *address, *ZED, *domains) == {
        "identity": user("zed", "q"),
        "scope": {"project": {"name": "other", "domain": DOMAIN}},
    }
    assert without_openrc("--os-cloud", "only", *address, "lease-list").code == 1


def test_the_only_cloud_is_not_used_for_a_service_without_keystone(
    without_openrc: Run, stub: Stub, clouds: Clouds, prod: dict[str, str]
) -> None:
    clouds(only=prod)
    stub.respond({"leases": []})

    ran = without_openrc("--os-auth-type", "none", "--os-endpoint", stub.url, "lease-list")

    assert (ran.code, ran.err, stub.credentials) == (0, "No leases found.\n", [])


def test_options_without_an_address_change_the_only_cloud(
    without_openrc: Run, stub: Stub, clouds: Clouds, prod: dict[str, str]
) -> None:
    clouds(only=prod)

    assert lists(without_openrc, stub)["scope"]["project"]["name"] == "p"
    assert lists(without_openrc, stub, "--os-project-name", "other")["scope"]["project"]["name"] == "other"
    assert lists(without_openrc, stub, *ZED)["identity"] == user("zed", "q")


@pytest.mark.parametrize("kind", ["token", "v3token"])
def test_a_token_is_sufficient_if_an_openrc_file_was_sourced(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, kind: str
) -> None:
    environment.setenv("OS_USER_DOMAIN_NAME", "Default")

    assert lists(blazar, stub, "--os-auth-type", kind, "--os-token", "T") == {
        "identity": {"methods": ["token"], "token": {"id": "T"}},
        "scope": {"project": {"name": "p", "domain": DOMAIN}},
    }


def test_a_token_in_the_environment_does_not_prevent_passwords(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OS_TOKEN", "T")

    assert lists(blazar, stub)["identity"] == user("u", "p")


def session_of(stub: Stub, *words: str) -> Any:
    """Return the session of ``blazar lease-list`` with *words*."""
    stub.respond({"leases": []})
    program = shell.BlazarShell()
    with kept_logging():
        assert program.run([*words, "lease-list"]) == 0
    return program.client.session


@pytest.mark.usefixtures("blazar")
def test_options_of_the_connection_reach_the_session(stub: Stub) -> None:
    tls = ["--tls-ciphers", "ECDHE-ECDSA-AES256-GCM-SHA384", "--tls-min-version", "1.3"]

    session = session_of(stub, *tls, "--timeout", "60")

    assert (session.timeout, session.tls_ciphers, session.tls_min_version) == (60, tls[1], "1.3")


def test_tls_options_may_be_in_the_environment(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OS_TLS_MIN_VERSION", "1.2")
    environment.setenv("OS_TLS_CIPHERS", "ECDHE-ECDSA-AES256-GCM-SHA384")

    session = session_of(stub)

    assert (session.tls_ciphers, session.tls_min_version) == ("ECDHE-ECDSA-AES256-GCM-SHA384", "1.2")


def test_the_timeout_is_that_of_the_option_then_of_the_cloud_then_600_seconds(
    without_openrc: Run, stub: Stub, clouds: Clouds, prod: dict[str, str], environment: pytest.MonkeyPatch
) -> None:
    clouds(prod=prod, test=prod)

    assert session_of(stub, "--os-cloud", "prod").timeout == 5
    assert session_of(stub, "--os-cloud", "prod", "--timeout", "60").timeout == 60
    environment.setenv("OS_AUTH_URL", prod["auth_url"])
    for name, value in OPENRC.items():
        environment.setenv(name, value)
    assert session_of(stub).timeout == 600


def test_the_durations_of_requests_are_printed_on_request(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": []})

    ran = blazar("--collect-timing", "lease-list", "-f", "json")

    assert (ran.code, ran.out) == (0, "[]\n")
    lines = [line.rpartition(" ")[0].rpartition(" ") for line in ran.err.splitlines()]
    requests = {request: float(seconds) for request, _separator, seconds in lines}
    assert 0 <= requests[f"GET {stub.url}/leases"] < 600
