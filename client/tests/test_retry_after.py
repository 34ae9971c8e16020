"""``Retry-After``: repeated requests, and messages with the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from keystoneauth1 import session as ksa_session

from blazarclient import exception
from blazarclient.v1.client import Client

from .command_samples import ID, LEASE

if TYPE_CHECKING:
    from .conftest import Run, Stub

# --- the library ------------------------------------------------------------------------------------------


def retrying(session: ksa_session.Session) -> tuple[Client, list[float]]:
    """Return a client that repeats requests, and the pauses that it makes instead of sleeping."""
    pauses: list[float] = []
    return Client(session=session, service_type="reservation", pause_before_retry=pauses.append), pauses


@pytest.mark.parametrize("seconds", [0, 5, 10])
def test_a_get_is_repeated_once_after_the_time_that_the_service_gives(
    stub: Stub, session: ksa_session.Session, seconds: int
) -> None:
    client, pauses = retrying(session)
    stub.respond({"error_message": "No manager answered"}, status=503, Retry_After=str(seconds))
    stub.respond({"leases": [{"id": "1"}]})

    assert client.lease.list() == [{"id": "1"}]
    assert (len(stub.sent), pauses) == (2, [seconds])


def test_a_get_that_fails_twice_is_not_repeated_again(stub: Stub, session: ksa_session.Session) -> None:
    client, pauses = retrying(session)
    for seconds in ("5", "7"):
        stub.respond({"error_message": "No manager answered"}, status=503, Retry_After=seconds)

    with pytest.raises(exception.ServiceUnavailable) as caught:
        client.lease.get("L")

    assert (len(stub.sent), pauses) == (2, [5])
    assert caught.value.kwargs["retry_after"] == 7


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (503, {}, None),
        (503, {"Retry_After": "11"}, 11),
        (503, {"Retry_After": "-1"}, None),
        (503, {"Retry_After": "Wed, 01 Jan 2031 10:00:00 GMT"}, None),
        (409, {"Retry_After": "5"}, 5),
        (500, {"Retry_After": "5"}, 5),
    ],
)
def test_a_get_is_not_repeated_after_another_answer(
    stub: Stub, session: ksa_session.Session, status: int, headers: dict[str, str], seconds: int | None
) -> None:
    client, pauses = retrying(session)
    stub.respond({"error_message": "no"}, status=status, **headers)

    with pytest.raises(exception.BlazarClientException) as caught:
        client.lease.list()

    assert (len(stub.sent), pauses) == (1, [])
    assert caught.value.kwargs["retry_after"] == seconds


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_request_that_may_have_taken_effect_is_not_repeated(
    stub: Stub, session: ksa_session.Session, method: str
) -> None:
    client, pauses = retrying(session)
    stub.respond({"error_message": "No manager answered"}, status=503, Retry_After="5")

    with pytest.raises(exception.ServiceUnavailable):
        client.lease.request_manager.request("/leases", method)

    assert (len(stub.sent), pauses) == (1, [])


def test_by_default_the_library_repeats_no_request(stub: Stub, client: Client) -> None:
    stub.respond({"error_message": "No manager answered"}, status=503, Retry_After="5")

    with pytest.raises(exception.ServiceUnavailable):
        client.lease.list()

    assert len(stub.sent) == 1


# --- commands ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason", "line"),
    [
        (503, "No manager answered.", "No manager answered; try again in 5 seconds"),
        (409, "Lease L is STARTING; try again in 5 seconds", "Lease L is STARTING; try again in 5 seconds"),
    ],
)
def test_an_error_says_when_to_try_again(
    blazar: Run, stub: Stub, status: int, reason: str, line: str
) -> None:
    body = {"error_message": reason}
    stub.respond(body, status=status, X_OpenStack_Request_ID="req-7", Retry_After="5")

    ran = blazar("lease-delete", ID)

    assert (ran.code, ran.err) == (1, f"ERROR: {line} (HTTP {status}, req-7)\n")


def test_a_command_that_only_reads_tries_again_after_an_outage(blazar: Run, stub: Stub) -> None:
    stub.respond({"error_message": "No manager answered"}, status=503, Retry_After="0")
    stub.respond({"lease": LEASE})

    ran = blazar("lease-show", ID, "-f", "json")

    assert (ran.code, ran.json["id"]) == (0, ID)
    assert ran.err == "Service unavailable, retrying: seconds=0\n"
