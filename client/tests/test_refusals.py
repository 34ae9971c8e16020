"""The reasons and alternatives that are printed when a lease is refused, and taking one of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from blazarclient import exception, refusals

from .command_samples import HOSTS, HOSTS_ARGUMENT, LEASE, WHEN
from .test_embedded_service import on, unique
from .test_terminal import run_on_a_terminal

if TYPE_CHECKING:
    from .conftest import Run, Stub

BODY = {
    "name": "mine",
    "start_date": "2031-01-02 10:00",
    "end_date": "2031-01-02 12:00",
    "reservations": [HOSTS],
}
SPLIT = [BODY, {**BODY, "start_date": "2031-01-02 12:00", "end_date": "2031-01-02 14:00"}]
MESSAGE = "Not enough hosts available: 3 asked for (min), 1 fit and are free"
EXPLAINED: dict[str, Any] = {
    "error_code": 409,
    "error_message": MESSAGE,
    "error_name": 409,
    "reasons": [
        {"binding": "free", "summary": "physical:host: 3 needed, but only 1 free throughout the period"},
        {"binding": None, "summary": "virtual:floatingip: enough are available"},
    ],
    "alternatives": [
        {"kind": "later", "summary": "from 2031-01-02 10:00 to 2031-01-02 12:00", "bodies": [BODY]},
        {"kind": "split", "summary": "two leases", "bodies": SPLIT},
    ],
}


def refuse(stub: Stub) -> None:
    """Let the stub refuse a lease, and explain it in the dry run."""
    stub.respond({"error_code": 400, "error_message": MESSAGE, "error_name": 400}, 400)
    stub.respond(EXPLAINED, 409)


@pytest.mark.usefixtures("blazar")
def test_a_refusal_on_a_terminal_has_reasons_and_alternatives(stub: Stub) -> None:
    refuse(stub)

    code, _screen, errors = run_on_a_terminal("lease-create", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")

    assert code == 1
    lines = [line.strip() for line in errors.splitlines()]
    assert lines[:5] == [
        "Reason: physical:host: 3 needed, but only 1 free throughout the period",
        "Possible instead:",
        "1  later: from 2031-01-02 10:00 to 2031-01-02 12:00",
        "2  split: two leases",
        "lease create --take <number> creates one of them",
    ]
    assert MESSAGE in lines[5]
    assert [each[1] for each in stub.calls] == ["/leases", "/leases?dry_run=true"]


@pytest.mark.usefixtures("blazar")
def test_a_refusal_by_a_usage_rule_is_explained_too(stub: Stub) -> None:
    text = "end_date: a lease lasts at most 3 days (rule gpu)"
    stub.respond({"error_code": 403, "error_message": text, "error_name": 403}, 403)
    stub.respond({**EXPLAINED, "error_code": 403, "error_message": text}, 403)

    code, _screen, errors = run_on_a_terminal("lease-create", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")

    assert (code, "Possible instead:" in errors, text in errors) == (1, True, True)


def test_nothing_more_is_asked_without_a_terminal(blazar: Run, stub: Stub) -> None:
    stub.respond({"error_code": 400, "error_message": MESSAGE, "error_name": 400}, 400)

    ran = blazar("lease-create", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")

    assert (ran.code, len(stub.sent)) == (1, 1)


def test_an_alternative_is_taken(blazar: Run, stub: Stub, tmp_path: Path) -> None:
    stub.respond(EXPLAINED, 409)
    refused = blazar("lease-create", "--dry-run", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")
    stub.respond({"lease": LEASE}, 201)
    stub.respond({"lease": LEASE}, 201)

    taken = blazar("lease-create", "--take", "2", "-f", "json")

    assert refused.code == 1
    assert taken.code == 0, taken.err
    sent = [body for _method, _path, body in stub.calls[1:]]
    assert [{key: each[key] for key in BODY} for each in sent] == SPLIT
    assert LEASE["id"] in taken.err


def test_a_dry_run_of_an_alternative_creates_nothing(blazar: Run, stub: Stub) -> None:
    stub.respond(EXPLAINED, 409)
    blazar("lease-create", "--dry-run", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")
    for body in SPLIT:
        stub.respond({"preview": {key: body[key] for key in ("start_date", "end_date", "reservations")}})

    ran = blazar("lease-create", "--take", "2", "--dry-run", "-f", "json")

    assert ran.code == 0, ran.err
    assert [(each[1], each[2]["start_date"]) for each in stub.calls[1:]] == [
        ("/leases?dry_run=true", body["start_date"]) for body in SPLIT
    ]
    assert ran.json["start_date"] == SPLIT[1]["start_date"]
    assert f"from {SPLIT[0]['start_date']} to {SPLIT[0]['end_date']} UTC" in ran.err
    assert ran.err.count("Nothing was created") == 2


@pytest.mark.parametrize("number", ["0", "3", "-1"])
def test_only_alternatives_of_the_last_refusal_can_be_taken(blazar: Run, stub: Stub, number: str) -> None:
    stub.respond(EXPLAINED, 409)
    blazar("lease-create", "--dry-run", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")

    ran = blazar("lease-create", f"--take={number}")

    assert (ran.code, len(stub.sent)) == (1, 1)
    assert "the last refusal has the alternatives 1 to 2" in ran.err


def test_without_a_recent_refusal_there_is_nothing_to_take(
    blazar: Run, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no lease of this project was refused" in blazar("lease-create", "--take", "1").err
    stub.respond(EXPLAINED, 409)
    blazar("lease-create", "--dry-run", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")
    monkeypatch.setattr(refusals, "KEPT_SECONDS", 0)

    ran = blazar("lease-create", "--take", "1")

    assert (ran.code, len(stub.sent)) == (1, 1)


def test_the_file_is_private_and_another_project_cannot_use_it(tmp_path: Path, environment: Any) -> None:
    environment.setenv("XDG_CACHE_HOME", str(tmp_path))

    refusals.keep(Client("one"), EXPLAINED["alternatives"])

    (found,) = tmp_path.rglob("*.json")
    assert found.stat().st_mode & 0o777 == 0o600
    assert json.loads(found.read_text())["alternatives"] == EXPLAINED["alternatives"]
    assert refusals.take(Client("one"), 1) == [BODY]
    with pytest.raises(exception.CommandError):
        refusals.take(Client("other"), 1)


class Client:
    """A client of a project."""

    def __init__(self, project_id: str) -> None:
        self.lease = self.request_manager = self
        self.get_project_id = lambda: project_id
        self.get_endpoint = lambda: "http://127.0.0.1"


def test_the_embedded_service_explains_and_grants(embedded: Run, host: str) -> None:
    name = unique("alternative")
    many = ("--reservation", on(host).replace("max=1", "max=2").replace("min=1", "min=2"))

    refused = embedded("lease-create", name, "--start-date", "+3d", "--duration", "1h", "--dry-run", *many)
    taken = embedded("lease-create", "--take", "1", "-f", "json")

    assert refused.code == 1
    assert "Reason: physical:host: 2 needed" in refused.err
    assert "fewer: physical:host: 1 instead of 2" in refused.err
    assert (taken.code, taken.json["name"]) == (0, name), taken.err
    assert embedded("lease-delete", name).code == 0


@pytest.mark.usefixtures("blazar")
def test_the_refusal_of_a_change_is_explained(stub: Stub) -> None:
    later = {
        "kind": "shorter",
        "summary": "end at 2031-01-01 13:00",
        "bodies": [{"end_date": "2031-01-01 13:00"}],
    }
    stub.respond({"lease": LEASE})
    stub.respond({"error_code": 400, "error_message": MESSAGE, "error_name": 400}, 400)
    stub.respond({"lease": LEASE})
    stub.respond({**EXPLAINED, "alternatives": [later]}, 409)

    code, _screen, errors = run_on_a_terminal("lease-update", LEASE["id"], "--prolong-for", "2h")

    assert code == 1
    assert [line.strip() for line in errors.splitlines()][:3] == [
        "Reason: physical:host: 3 needed, but only 1 free throughout the period",
        "Possible instead:",
        "1  shorter: end at 2031-01-01 13:00",
    ]
    assert "--take" not in errors
    assert (stub.calls[-1][1], stub.calls[-1][2]) == (
        f"/leases/{LEASE['id']}?dry_run=true",
        {"end_date": "2031-01-01 14:00"},
    )


@pytest.mark.usefixtures("blazar")
@pytest.mark.parametrize("command", [("offer-create",), ("lease-create", "--hold")])
def test_the_refusal_of_an_offer_is_explained(stub: Stub, command: tuple[str, ...]) -> None:
    stub.respond(EXPLAINED, 409)

    code, _screen, errors = run_on_a_terminal(*command, *WHEN, "--reservation", HOSTS_ARGUMENT, "mine")

    assert (code, len(stub.calls)) == (1, 1)
    assert "Reason: physical:host: 3 needed" in errors
    assert "lease create --take <number> creates one of them" in errors


def test_a_search_without_an_answer_says_why(blazar: Run, stub: Stub) -> None:
    found = {"slots": [], "complete": True, "reasons": EXPLAINED["reasons"]}
    stub.respond(found)
    stub.respond(found)

    times = blazar("availability", "--hosts", "3", "--duration", "2h")
    lease = blazar("lease-create", "x", "--earliest", "--duration", "2h", "--reservation", HOSTS_ARGUMENT)

    assert "Reason: physical:host: 3 needed, but only 1 free" in times.err
    assert (lease.code, "days; physical:host: 3 needed, but only 1 free" in lease.err) == (1, True)
