"""Extending a lease as far as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from blazarclient import exception
from blazarclient.v1 import leases

from .command_samples import ID, LEASE
from .test_embedded_service import on, unique

if TYPE_CHECKING:
    from blazarclient.v1.client import Client

    from .conftest import Run, Stub

SHORTER = {"end_date": "2031-01-01 13:30"}
EXTENDED = LEASE | {"end_date": "2031-01-01T13:30:00.000000"}
MESSAGE = "Not enough hosts available"


def refuse(stub: Stub, *alternatives: dict[str, Any], status: int = 409) -> None:
    refusal = {"error_code": status, "error_message": MESSAGE, "error_name": status}
    stub.respond({**refusal, "reasons": [], "alternatives": [*alternatives]}, status)


def shorter(end: str) -> dict[str, Any]:
    return {"kind": "shorter", "summary": f"until {end}", "bodies": [{"end_date": end}]}


@pytest.mark.parametrize("status", [409, 400])
def test_the_alternative_of_the_refusal_is_taken(blazar: Run, stub: Stub, status: int) -> None:
    stub.respond({"lease": LEASE})
    fewer = {"kind": "fewer", "summary": "", "bodies": [{}]}
    refuse(stub, fewer, shorter("2031-01-01 13:30"), status=status)
    stub.respond({"lease": EXTENDED})

    ran = blazar("lease-update", ID, "--prolong-for", "4h", "--as-far-as-possible")

    assert (ran.code, ran.out) == (0, f"Updated lease: {ID}\n")
    assert ran.err == "The lease cannot last until 2031-01-01 16:00 UTC; it ends at 2031-01-01 13:30 UTC\n"
    assert [body for _method, _path, body in stub.calls[1:]] == [{"end_date": "2031-01-01 16:00"}, SHORTER]
    versions = {each.headers["OpenStack-API-Version"] for each in stub.sent[1:]}
    assert versions == {"reservation 1.1"}


def test_a_dry_run_asks_how_far(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})
    refuse(stub, shorter("2031-01-01 13:30"))
    stub.respond({"preview": {"end_date": "2031-01-01 13:30"}})

    ran = blazar(
        *("lease-update", ID, "--end-date", "2031-01-01 16:00", "--as-far-as-possible"),
        *("--dry-run", "-f", "json"),
    )

    assert (ran.code, ran.json) == (0, {"end_date": "2031-01-01 13:30"})
    assert {path for _method, path, _body in stub.calls[1:]} == {f"/leases/{ID}?dry_run=true"}


def test_without_an_alternative_the_refusal_is_the_error(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})
    refuse(stub)

    ran = blazar("lease-update", ID, "--prolong-for", "4h", "--as-far-as-possible")

    assert (ran.code, len(stub.sent)) == (1, 2)
    assert MESSAGE in ran.err


def test_the_number_of_requests_is_bounded(client: Client, stub: Stub) -> None:
    for _each in range(9):
        refuse(stub, shorter("2031-01-01 13:30"))

    with pytest.raises(exception.Conflict):
        client.lease.extend_as_far_as_possible(ID, {"end_date": "2031-01-01 16:00"})
    assert len(stub.sent) == leases.ATTEMPTS_TO_EXTEND


def test_it_needs_a_later_end(blazar: Run, stub: Stub) -> None:
    ran = blazar("lease-update", ID, "--name", "x", "--as-far-as-possible")

    assert (ran.code, stub.sent) == (2, [])
    assert "--as-far-as-possible needs --end-date or --prolong-for" in ran.err


def test_an_extension_that_is_possible_is_made_as_requested(embedded: Run, host: str) -> None:
    name = unique("extended")
    embedded(
        "lease-create",
        name,
        "--start-date",
        "2041-03-01 10:00",
        "--duration",
        "1h",
        "--reservation",
        on(host),
    )

    dry = embedded(
        "lease-update", name, "--prolong-for", "1h", "--as-far-as-possible", "--dry-run", "-f", "json"
    )
    ran = embedded("lease-update", name, "--prolong-for", "1h", "--as-far-as-possible", "-f", "json")
    embedded("lease-delete", name)

    assert (dry.code, dry.json["end_date"]) == (0, "2041-03-01 12:00"), dry.err
    assert (ran.code, ran.err, ran.json["end_date"]) == (0, "", "2041-03-01T12:00:00.000000")
