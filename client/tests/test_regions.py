"""Questions to several regions, with a stub of the service in two of them, and with two embedded services."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from blazarclient import exception, regions

from .conftest import Stub, running
from .test_openstack_command import run_openstack
from .test_terminal import run_on_a_terminal

if TYPE_CHECKING:
    from pathlib import Path

    from blazarclient.v1.client import Client

    from .conftest import Run

ASKED = ("availability", "--duration", "1h", "-f", "json")


@pytest.fixture
def other(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A stub of the service in the region two."""
    with Stub() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        token = json.dumps(stub.token()).replace(f"{stub.root}/elsewhere/v1", server.url)
        monkeypatch.setattr(stub, "token", lambda: json.loads(token))
        yield server
        server.shutdown()
        thread.join()


def found(*slots: tuple[str, str, int]) -> dict[str, Any]:
    return {
        "complete": True,
        "slots": [
            {
                "start_date": f"2031-01-{start}",
                "end_date": f"2031-01-{end}",
                "latest_start_date": f"2031-01-{start}",
                "reservations": [{"resource_type": "physical:host", "amount": amount}],
            }
            for start, end, amount in slots
        ],
    }


FIRST = found(("02 10:00", "02 11:00", 1), ("04 10:00", "04 14:00", 2))
SECOND = found(("01 10:00", "01 12:00", 3), ("03 10:00", "03 11:00", 1))


@pytest.mark.parametrize(
    ("options", "days"),
    [
        ((), ["01", "02", "03", "04"]),
        (("--most",), ["01", "04", "02", "03"]),
        (("--min-duration", "1h"), ["04", "01", "02", "03"]),
        (("--limit", "1"), ["01"]),
    ],
)
def test_the_times_of_all_regions_are_ranked_together(
    blazar: Run, stub: Stub, other: Stub, options: tuple[str, ...], days: list[str]
) -> None:
    stub.respond(FIRST)
    other.respond(SECOND)

    ran = blazar(*ASKED, "--region", "all", *options)

    assert (ran.code, ran.err) == (0, "")
    assert [each["start_date"][8:10] for each in ran.json] == days
    assert {each["region"] for each in ran.json if each["start_date"][8:10] in ("01", "03")} == {"two"}
    assert [len(each.sent) for each in (stub, other)] == [1, 1]


def test_a_region_that_fails_is_named_and_the_others_count(blazar: Run, stub: Stub) -> None:
    stub.respond(FIRST)

    ran = blazar(*ASKED, "--region", "one,two")

    assert (ran.code, {each["region"] for each in ran.json}) == (0, {"one"})
    assert ran.err.startswith("Region two: ERROR: wrong path /elsewhere/v1")


def test_if_no_region_answers_the_command_fails(blazar: Run, stub: Stub) -> None:
    ran = blazar(*ASKED, "--region", "two")

    assert (ran.code, ran.out, stub.sent) == (1, "", [])
    assert "None of the regions answered: two" in ran.err


def test_an_unknown_region_is_refused_with_the_known_ones(blazar: Run, stub: Stub) -> None:
    ran = blazar(*ASKED, "--region", "one,three")

    assert (ran.code, stub.sent) == (1, [])
    assert "no endpoint of the service in three; use all, or names from: one, two" in ran.err


def test_without_the_option_one_region_is_asked(blazar: Run, stub: Stub, other: Stub) -> None:
    stub.respond(SECOND)

    ran = blazar(*ASKED)

    assert [each["start_date"][8:10] for each in ran.json] == ["01", "03"]
    assert "region" not in ran.json[0]
    assert other.sent == []


@pytest.mark.usefixtures("blazar")
def test_openstack_asks_several_regions(stub: Stub, other: Stub) -> None:
    stub.respond(FIRST)
    other.respond(SECOND)

    ran = run_openstack("reservation", *ASKED, "--region", "two,one")

    assert (ran.code, ran.err) == (0, "")
    assert [each["region"] for each in ran.json] == ["two", "one", "two", "one"]


def test_several_regions_need_keystone(embedded: Run) -> None:
    ran = embedded(*ASKED, "--region", "all")

    assert (ran.code, "can only be asked with Keystone" in ran.err) == (1, True)


def test_a_region_that_hangs_does_not_delay_the_answer(
    by_session: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regions, "TIMEOUT_SECONDS", 5)
    ended = threading.Event()

    def question(client: Client) -> dict[str, Any]:
        if client.lease.request_manager.region_name == "two":  # type: ignore[union-attr]
            ended.wait(60)
        return {"slots": []}

    answers = regions.ask(by_session, regions.named(by_session, "all"), question)
    ended.set()

    assert answers.found == {"one": {"slots": []}}
    assert answers.failed == {"two": "no answer within 5 seconds"}


def test_a_client_without_a_session_has_no_regions(by_token: Client) -> None:
    with pytest.raises(exception.CommandError):
        regions.named(by_token, "all")


def test_the_catalogue_and_the_calendar_have_regions(blazar: Run, stub: Stub, other: Stub) -> None:
    limits = {"max_lease_days": 7, "quotas": []}
    for each, count in ((stub, 1), (other, 2)):
        types = [{"resource_type": "physical:host", "reservable": count}]
        catalogue = {"resource_types": types, "properties": [], "availability_zones": [], "limits": limits}
        each.respond({"catalogue": catalogue})

    listed = blazar("catalogue", "--region", "all", "-f", "json")

    assert [(each["region"], each["kind"], each["value"]) for each in listed.json] == [
        *(("one", "type", 1), ("two", "type", 2), ("one", "limit", 7), ("two", "limit", 7)),
    ]
    period = {"start_date": "2031-01-01 00:00", "end_date": "2031-01-08 00:00", "free": 1, "mine": 0}
    for each, value in ((stub, None), (other, "r1")):
        group = {"value": value, "total": 1, "intervals": [period]}
        each.respond({"from": period["start_date"], "to": period["end_date"], "groups": [group]})

    code, screen, _errors = run_on_a_terminal("calendar", "--region", "all")

    assert code == 0
    assert [line.split("  ")[0] for line in screen.splitlines()[1:3]] == ["one", "two r1"]


@pytest.fixture
def services(stub: Stub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """An embedded service in each of the two regions of the stub's service catalogue."""
    folders = [tmp_path / name for name in ("one", "two")]
    for each in folders:
        each.mkdir()
    with (
        running(folders[0], "os_region_name = one") as one,
        running(folders[1], "os_region_name = two") as two,
    ):
        token = json.dumps(stub.token())
        token = token.replace(f"{stub.root}/elsewhere/v1", two).replace(stub.url, one)
        monkeypatch.setattr(stub, "token", lambda: json.loads(token))
        yield


@pytest.mark.usefixtures("services")
def test_two_services_answer_and_one_that_cannot_be_reached_is_named(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.setenv("OS_REGION_NAME", "one")
    assert blazar("host-create", "host-1").code == 0
    environment.setenv("OS_REGION_NAME", "two")
    for name in ("host-1", "host-2"):
        assert blazar("host-create", name).code == 0

    most = blazar(*ASKED, "--region", "all", "--most", "--hosts", "1-2")
    only = blazar(*ASKED, "region=one", "--region", "all")
    listed = blazar("catalogue", "--region", "all", "-f", "json")

    assert [(each["region"], each["amounts"]) for each in most.json][:2] == [
        ("two", "2 physical:host"),
        ("one", "1 physical:host"),
    ]
    assert {each["region"] for each in only.json} == {"one"}
    assert {each["region"] for each in listed.json} == {"one", "two"}

    token, two = stub.token(), stub.token()["token"]["catalog"][0]["endpoints"][1]["url"]
    gone = json.dumps(token).replace(two, "http://127.0.0.1:9/v1")
    monkeypatch.setattr(stub, "token", lambda: json.loads(gone))

    without = blazar(*ASKED, "--region", "all")

    assert {each["region"] for each in without.json} == {"one"}
    assert without.err.startswith("Region two: Cannot connect to http://127.0.0.1:9")
