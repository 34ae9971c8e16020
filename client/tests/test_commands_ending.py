"""Errors of commands, and waiting."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from keystoneauth1 import exceptions as ksa_exceptions

from blazarclient import advice

from .command_samples import ID, LEASE

if TYPE_CHECKING:
    from .conftest import Run, Stub


@pytest.mark.parametrize(
    ("status", "reason"), [(400, "bad"), (403, "no"), (404, "gone"), (409, "not enough"), (500, "x")]
)
def test_client_weakness_38_errors_of_the_service_have_the_status_and_the_request_id(
    blazar: Run, stub: Stub, status: int, reason: str
) -> None:
    stub.respond(
        {"error_code": status, "error_message": reason}, status=status, X_OpenStack_Request_ID="req-7"
    )

    ran = blazar("lease-show", ID)

    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"ERROR: {reason} (HTTP {status}, req-7)\n"


@pytest.mark.parametrize("body", [["odd"], "<html>", {"lease": "?"}, {}])
def test_client_weakness_39_unexpected_responses_cause_no_tracebacks(
    blazar: Run, stub: Stub, body: object
) -> None:
    stub.respond(body, status=502)

    ran = blazar("lease-show", ID)

    assert ran.code == 1
    assert ran.err.startswith("ERROR: ")
    assert "Traceback" not in ran.err


def test_debug_prints_the_traceback_of_an_error(blazar: Run, stub: Stub) -> None:
    stub.respond({"error_message": "no"}, status=403)

    assert "Traceback" in blazar("--debug", "lease-show", ID).err


def test_a_wrong_password_is_a_one_line_error(blazar: Run, stub: Stub) -> None:
    stub.accepts_credentials = False

    ran = blazar("lease-list")

    assert (ran.code, ran.out, stub.sent) == (1, "", [])
    assert ran.err.startswith(
        "Keystone rejected the credentials (HTTP 401, req-k): check the user name, password"
    )
    assert ran.err.count("\n") == 1


def test_a_401_of_the_service_says_what_to_check(blazar: Run, stub: Stub) -> None:
    for _ in range(2):
        stub.respond({"error_message": "who?"}, status=401)

    ran = blazar("lease-list")

    assert ran.err == "ERROR: who? (HTTP 401): check the user name and password, or the token\n"


@pytest.mark.parametrize("variable", ["OS_ENDPOINT", "OS_AUTH_URL"])
def test_a_refused_connection_is_a_one_line_error(
    blazar: Run, environment: pytest.MonkeyPatch, variable: str
) -> None:
    if variable == "OS_ENDPOINT":
        environment.setenv("OS_AUTH_TYPE", "none")
    # Nothing listens on port 9 (discard).
    environment.setenv(variable, "http://127.0.0.1:9")

    ran = blazar("lease-list")

    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert ran.err.startswith(
        "Cannot connect to http://127.0.0.1:9: Connection refused. Check that the service is running"
    )
    assert variable in ran.err


def test_a_catalogue_without_the_service_is_an_error_that_names_the_options(blazar: Run) -> None:
    ran = blazar("--os-region-name", "nowhere", "lease-list")

    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "nowhere" in ran.err
    assert "--os-endpoint-override" in ran.err


def test_an_environment_without_a_cloud_is_an_error_that_names_the_variables(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from .conftest import run_blazar

    for name in ("OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD"):
        environment.delenv(name, raising=False)

    ran = run_blazar(capsys, "lease-list")

    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert ran.err.startswith("No cloud is specified: set OS_CLOUD")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "SSL exception connecting to https://h:1/v1: HTTPSConnectionPool(host='h', port=1): Max retries "
            "exceeded with url: /v1 (Caused by SSLError(SSLCertVerificationError(1, '[SSL: "
            "CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)')))",
            "TLS connection failed: https://h:1: certificate verify failed: self-signed certificate. If",
        ),
        ("SSL exception connecting to https://h: odd", "TLS connection failed: https://h. If"),
    ],
)
def test_an_untrusted_certificate_is_an_error_that_names_the_option(text: str, line: str) -> None:
    message = advice.explain_transport_error(ksa_exceptions.SSLError(text))

    assert message is not None
    assert message.startswith(line)
    assert message.endswith("--os-cacert or OS_CACERT")


def test_a_timeout_is_an_error_with_the_address() -> None:
    error = ksa_exceptions.ConnectTimeout("Request to http://h:1/v1/leases timed out")
    message = advice.explain_transport_error(error)

    assert message is not None
    assert message.startswith("Cannot connect to http://h:1: timed out. Check that the service is running")


def running(status: str) -> dict[str, Any]:
    start = datetime(2001, 1, 1, tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return LEASE | {"status": status, "start_date": start, "end_date": "2099-01-01T00:00:00.000000"}


def test_client_weakness_43_create_waits_and_shows_the_final_lease(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": running("PENDING")}, status=201)
    stub.respond({"lease": running("STARTING")})
    stub.respond({"lease": running("ACTIVE")})

    ran = blazar("lease-create", "--wait", "--timeout", "60", "mine", "-f", "json")

    assert (ran.code, ran.json["status"]) == (0, "ACTIVE")
    assert "lease mine: STARTING\nlease mine: ACTIVE\n" in ran.err


def test_a_lease_that_fails_during_the_wait_is_shown_and_the_exit_code_is_1(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": running("PENDING")}, status=201)
    stub.respond({"lease": running("ERROR")})
    stub.respond({"lease": running("ERROR")})

    ran = blazar("lease-create", "--wait", "mine", "-f", "json")

    assert (ran.code, ran.json["status"]) == (1, "ERROR")
    assert f"Lease {ID} is in ERROR" in ran.err


def test_update_and_delete_fail_after_the_timeout(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": running("UPDATING")})
    stub.respond({"lease": running("UPDATING")})
    stub.respond({"lease": running("UPDATING")})
    stub.respond(status=204)
    stub.respond({"lease": running("DELETING")})

    updated = blazar("lease-update", ID, "--name", "x", "--wait", "--timeout", "0")
    deleted = blazar("lease-delete", ID, "--wait", "--timeout", "0")

    assert (updated.code, deleted.code) == (1, 1)
    assert "still UPDATING" in updated.err
    assert "still DELETING" in deleted.err


def test_delete_waits_until_the_lease_no_longer_exists(blazar: Run, stub: Stub) -> None:
    stub.respond(status=204)
    stub.respond({"error_message": "gone"}, status=404)

    ran = blazar("lease-delete", ID, "--wait")

    assert (ran.code, ran.out) == (0, f"Deleted lease: {ID}\n")
