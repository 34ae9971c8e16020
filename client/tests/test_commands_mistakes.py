"""Messages of commands about common mistakes with leases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from .command_samples import HOSTS_ARGUMENT, ID, LEASE, OTHER, RESERVATION, WHEN
from .conftest import Answer

if TYPE_CHECKING:
    from .conftest import Run, Stub


def test_the_only_reservation_is_changed_without_an_id(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})
    stub.respond({"lease": LEASE})

    ran = blazar("lease-update", ID, "--reservation", "min=1,max=3")

    assert (ran.code, ran.out) == (0, f"Updated lease: {ID}\n")
    changes = {"reservations": [{"min": 1, "max": 3, "id": "r1"}]}
    assert stub.calls == [("GET", f"/leases/{ID}", None), ("PUT", f"/leases/{ID}", changes)]


def test_a_change_of_one_of_several_reservations_needs_its_id(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE | {"reservations": [RESERVATION, RESERVATION | {"id": "r2"}]}})

    ran = blazar("lease-update", ID, "--reservation", "max=3")

    assert ran.code == 1
    assert "the lease has: id=r1 (physical:host); id=r2 (physical:host)\n" in ran.err
    assert [each.method for each in stub.sent] == ["GET"]


@pytest.mark.parametrize("command", ["create", "update"])
def test_an_error_about_a_start_in_the_past_gets_the_start_and_the_local_time(
    blazar: Run, stub: Stub, command: str
) -> None:
    stub.respond({"error_message": "start_date: must be later."}, status=400, X_OpenStack_Request_ID="req-7")
    lease = ["mine"] if command == "create" else [ID]
    if command == "update":
        stub.answers.appendleft(Answer(200, {"lease": LEASE}))

    ran = blazar(f"lease-{command}", "--start-date", "2001-07-01 10:00", *lease)

    line = ran.err.splitlines()[-1]
    both = "The start is 2001-07-01 10:00 UTC (2001-07-01 12:00 CEST)"
    assert line.startswith(f"ERROR: start_date: must be later. {both}")
    assert re.search(r", the local time is \d{4}-\d\d-\d\d \d\d:\d\d UTC \(.* CES?T\); ", line)
    assert line.endswith("dates without a zone are UTC (HTTP 400, req-7)")


def test_times_that_the_service_reports_are_not_repeated(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("TZ", "UTC")
    message = "start_date: 2001-07-01 10:00 UTC is in the past, it is 2031-01-01 10:00 UTC now"
    stub.respond({"error_message": message}, status=400)

    ran = blazar("lease-create", "--start-date", "2001-07-01 10:00", "mine")

    assert ran.err.splitlines()[-1] == f"ERROR: {message} (HTTP 400)"


def test_an_error_about_a_start_in_the_future_is_unchanged(blazar: Run, stub: Stub) -> None:
    stub.respond({"error_message": "no"}, status=400)

    assert (
        blazar("lease-create", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine").err == "ERROR: no (HTTP 400)\n"
    )


@pytest.mark.parametrize("form", ["table", "value", "json"])
def test_leases_with_the_same_name_are_not_searched_in_pipes(blazar: Run, stub: Stub, form: str) -> None:
    stub.respond({"lease": LEASE}, status=201)
    stub.leases = [LEASE | {"id": OTHER}]

    ran = blazar("lease-create", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine", "-f", form)

    assert (ran.code, [each.method for each in stub.sent]) == (0, ["POST"])
    assert "Warning" not in ran.err
