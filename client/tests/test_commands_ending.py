"""How commands end: errors, and waiting."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from .command_samples import ID, LEASE

if TYPE_CHECKING:
    from .conftest import Run, Stub


@pytest.mark.parametrize(
    ("status", "reason"), [(400, "bad"), (403, "no"), (404, "gone"), (409, "not enough"), (500, "x")]
)
def test_client_weakness_38_errors_of_the_service_name_status_and_request(
    blazar: Run, stub: Stub, status: int, reason: str
) -> None:
    stub.will({"error_code": status, "error_message": reason}, status=status, X_OpenStack_Request_ID="req-7")

    ran = blazar("lease-show", ID)

    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"ERROR: {reason} (HTTP {status}, req-7)\n"


@pytest.mark.parametrize("body", [["odd"], "<html>", {"lease": "?"}, {}])
def test_client_weakness_39_odd_answers_are_no_tracebacks(blazar: Run, stub: Stub, body: object) -> None:
    stub.will(body, status=502)

    ran = blazar("lease-show", ID)

    assert ran.code == 1
    assert ran.err.startswith("ERROR: ")
    assert "Traceback" not in ran.err


def test_with_debug_the_way_of_an_error_is_shown(blazar: Run, stub: Stub) -> None:
    stub.will({"error_message": "no"}, status=403)

    assert "Traceback" in blazar("--debug", "lease-show", ID).err


def running(status: str) -> dict[str, Any]:
    start = datetime(2001, 1, 1, tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return LEASE | {"status": status, "start_date": start, "end_date": "2099-01-01T00:00:00.000000"}


def test_client_weakness_43_create_waits_and_shows_the_lease_as_it_is_then(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": running("PENDING")}, status=201)
    stub.will({"lease": running("STARTING")})
    stub.will({"lease": running("ACTIVE")})

    ran = blazar("lease-create", "--wait", "--timeout", "60", "mine", "-f", "json")

    assert (ran.code, ran.json["status"]) == (0, "ACTIVE")
    assert "lease mine: STARTING\nlease mine: ACTIVE\n" in ran.err


def test_a_lease_that_fails_while_one_waits_is_shown_and_the_exit_code_is_1(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": running("PENDING")}, status=201)
    stub.will({"lease": running("ERROR")})
    stub.will({"lease": running("ERROR")})

    ran = blazar("lease-create", "--wait", "mine", "-f", "json")

    assert (ran.code, ran.json["status"]) == (1, "ERROR")
    assert f"Lease {ID} is in ERROR" in ran.err


def test_update_and_delete_wait_and_give_up_in_time(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": running("UPDATING")})
    stub.will({"lease": running("UPDATING")})
    stub.will({"lease": running("UPDATING")})
    stub.will(status=204)
    stub.will({"lease": running("DELETING")})

    updated = blazar("lease-update", ID, "--name", "x", "--wait", "--timeout", "0")
    deleted = blazar("lease-delete", ID, "--wait", "--timeout", "0")

    assert (updated.code, deleted.code) == (1, 1)
    assert "still UPDATING" in updated.err
    assert "still DELETING" in deleted.err


def test_deleting_is_waited_for_until_the_lease_is_gone(blazar: Run, stub: Stub) -> None:
    stub.will(status=204)
    stub.will({"error_message": "gone"}, status=404)

    ran = blazar("lease-delete", ID, "--wait")

    assert (ran.code, ran.out) == (0, f"Deleted lease: {ID}\n")
