"""Requests of commands for leases."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from blazarclient import clock

from .command_samples import HOSTS, HOSTS_ARGUMENT, ID, LEASE, OTHER, WHEN

if TYPE_CHECKING:
    from .conftest import Run, Stub


def minute(ahead: timedelta = timedelta()) -> str:
    return (clock.now() + ahead).strftime("%Y-%m-%d %H:%M")


def test_a_lease_is_created_with_the_request_of_4_6(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE}, status=201)

    ran = blazar(
        "lease-create",
        *WHEN,
        *("--before-end-date", "2031-01-01 11:00"),
        *("--physical-reservation", "min=1,max=2"),
        *("--reservation", "resource_type=virtual:instance,vcpus=1,memory_mb=1024,disk_gb=20,amount=1"),
        "mine",
    )

    assert ran.code == 0
    assert stub.calls == [
        (
            "POST",
            "/leases",
            {
                "name": "mine",
                "start_date": "2031-01-01 10:00",
                "end_date": "2031-01-01 12:00",
                "before_end_date": "2031-01-01 11:00",
                "reservations": [
                    HOSTS,
                    {
                        "resource_type": "virtual:instance",
                        "vcpus": 1,
                        "memory_mb": 1024,
                        "disk_gb": 20,
                        "amount": 1,
                        "affinity": "None",
                        "resource_properties": "",
                    },
                ],
                "events": [],
            },
        )
    ]


def test_client_weakness_24_a_lease_lasts_24_hours_from_now_by_default(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE}, status=201)
    earliest = minute(timedelta(hours=24))

    blazar("lease-create", "--reservation", HOSTS_ARGUMENT, "mine")

    body = stub.sent[0].body
    assert body["start_date"] == "now"
    assert body["before_end_date"] is None
    assert earliest <= body["end_date"] <= minute(timedelta(hours=24))


def test_a_lease_that_starts_after_the_default_end_lasts_24_hours(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE}, status=201)

    blazar("lease-create", "--reservation", HOSTS_ARGUMENT, "--start-date", "2099-01-01 10:00", "mine")

    assert stub.sent[0].body["end_date"] == "2099-01-02 10:00"


def test_client_weakness_44_dates_can_be_local_relative_and_zoned_and_are_echoed_in_utc(
    blazar: Run, stub: Stub
) -> None:
    stub.respond({"lease": LEASE}, status=201)

    ran = blazar(
        "lease-create",
        *("--start-date", "2031-07-01 09:00 local", "--end-date", "2031-07-01T12:00+03:00"),
        *("--reservation", HOSTS_ARGUMENT, "mine", "-f", "json"),
    )

    body = stub.sent[0].body
    assert (body["start_date"], body["end_date"]) == ("2031-07-01 07:00", "2031-07-01 09:00")
    assert "start_date: 2031-07-01 09:00 local = 2031-07-01 07:00 UTC\n" in ran.err
    assert ran.json["id"] == ID


def test_client_weakness_44_a_lease_can_have_a_duration(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE}, status=201)

    blazar(
        *("lease-create", "--start-date", "2031-01-01 10:00", "--duration", "1d2h"),
        *("--reservation", HOSTS_ARGUMENT, "mine"),
    )

    assert stub.sent[0].body["end_date"] == "2031-01-02 12:00"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--start-date", "2031-01-01 12:00", "--end-date", "2031-01-01 11:00"], "is before the start date"),
        (["--end-date", "2001-01-01 11:00"], "is before the start date"),
        ([*WHEN, "--before-end-date", "2031-01-01 13:00"], "is not between"),
        (["--start-date", "soon"], "The lease parameters are incorrect. Invalid date 'soon'; use one"),
        (["--duration", "long"], "Invalid time format for option. 'long' is not a duration; use"),
        (["--reservation", "resource_type=physical:host,mim=1"], "did you mean min?"),
        (["--physical-reservation", "min=1"], "missing keys of a physical:host reservation: max"),
        (["--event", "event_type=x"], "event_date is missing"),
        (["--event", "event_kind=x"], "event_kind"),
        (["--from-file", "nowhere.json"], "nowhere.json"),
    ],
)
def test_client_weakness_38_each_mistake_has_a_specific_message(
    blazar: Run, stub: Stub, words: list[str], reason: str
) -> None:
    ran = blazar("lease-create", "mine", *words)

    assert (ran.code, stub.sent, ran.out) == (1, [], "")
    assert reason in ran.err.strip().splitlines()[-1]


def test_client_weakness_05_events_are_sent_with_a_note_that_the_service_ignores_them(
    blazar: Run, stub: Stub
) -> None:
    stub.respond({"lease": LEASE}, status=201)

    ran = blazar("lease-create", *WHEN, "--event", "event_type=notify,event_date=2031-01-01 11:00", "mine")

    assert stub.sent[0].body["events"] == [{"event_type": "notify", "event_date": "2031-01-01 11:00"}]
    assert "The service ignores --event" in ran.err


def test_a_lease_needs_a_name(blazar: Run, stub: Stub, tmp_path: Path) -> None:
    (tmp_path / "nameless.json").write_text("{}")

    assert blazar("lease-create", "--reservation", HOSTS_ARGUMENT).code == 2
    ran = blazar("lease-create", "--from-file", "nameless.json")
    assert (ran.code, ran.err, stub.sent) == (
        1,
        "The lease has no name; give it as an argument or as name in the file\n",
        [],
    )


def test_client_weakness_27_a_lease_without_a_reservation_is_created_with_a_warning(
    blazar: Run, stub: Stub
) -> None:
    stub.respond({"lease": LEASE}, status=201)

    ran = blazar("lease-create", "mine")

    assert (ran.code, stub.sent[0].body["reservations"]) == (0, [])
    assert "no reservation" in ran.err


def test_options_complete_a_lease_from_a_file(blazar: Run, stub: Stub, tmp_path: Path) -> None:
    stub.respond({"lease": LEASE}, status=201)
    (tmp_path / "lease.yaml").write_text(
        "name: from file\nend_date: 2031-01-03T00:00+01:00\nreservations:\n"
        "- {resource_type: 'physical:host', min: 1, max: 2}\n"
    )

    ran = blazar("lease-create", "--from-file", "lease.yaml", "--start-date", "2031-01-01 10:00")

    assert ran.code == 0, ran.err
    body = stub.sent[0].body
    assert (body["name"], body["start_date"], body["end_date"]) == (
        "from file",
        "2031-01-01 10:00",
        "2031-01-02 23:00",
    )
    assert body["reservations"] == [HOSTS]


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ([], "2031-01-01 18:00"),
        (["--duration", "30s"], "2031-01-01 10:01"),
        (["--end-date", "2031-01-01 11:00"], "2031-01-01 11:00"),
    ],
)
def test_options_take_precedence_over_the_duration_in_a_file(
    blazar: Run, stub: Stub, tmp_path: Path, words: list[str], end: str
) -> None:
    (tmp_path / "lease.yaml").write_text("name: n\nstart_date: 2031-01-01 10:00\nduration: 8h\n")
    stub.respond({"error": 406, "error_message": "API version 1.1 is not served"}, 406)

    ran = blazar("lease-create", "--from-file", "lease.yaml", "--dry-run", "-f", "json", *words)

    assert (ran.code, ran.json["end_date"]) == (0, end)
    assert "duration" not in ran.json


def test_an_invalid_duration_in_a_file_is_refused(blazar: Run, stub: Stub, tmp_path: Path) -> None:
    (tmp_path / "lease.yaml").write_text("name: n\nduration: 8\n")

    ran = blazar("lease-create", "--from-file", "lease.yaml")

    assert (ran.code, stub.sent) == (1, [])
    assert "Invalid time format for option. '8' is not a duration; use numbers with the units" in ran.err


def test_a_dry_run_asks_the_service(blazar: Run, stub: Stub) -> None:
    found = [{"resource_type": "physical:host", "amount": 1, "resources": ["17"]}]
    stub.respond({"preview": {"start_date": "2031-01-01 10:00", "reservations": found}})

    ran = blazar("lease-create", "--dry-run", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine", "-f", "json")

    assert ran.json["reservations"] == found
    ((method, path, body),) = stub.calls
    assert (method, path) == ("POST", "/leases?dry_run=true")
    assert body["reservations"] == [HOSTS]
    assert stub.sent[0].headers["OpenStack-API-Version"] == "reservation 1.1"


def test_a_dry_run_of_a_service_with_api_1_0_prints_the_request(blazar: Run, stub: Stub) -> None:
    stub.respond({"error": 406, "error_message": "API version 1.1 is not served"}, 406)

    ran = blazar("lease-create", "--dry-run", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine", "-f", "json")

    assert (ran.code, len(stub.sent)) == (0, 1)
    assert ran.json["reservations"] == [HOSTS]
    assert ran.json["start_date"] == "2031-01-01 10:00"


@pytest.mark.parametrize("spelling", ["--prolong-for", "--prolong_for"])
@pytest.mark.parametrize("command", ["lease-update", "lease-set"])
def test_a_lease_is_updated_with_the_requests_of_4_6(
    blazar: Run, stub: Stub, spelling: str, command: str
) -> None:
    stub.respond({"leases": [LEASE]})
    stub.respond({"lease": LEASE})
    stub.respond({"lease": LEASE})

    ran = blazar(command, spelling, "2h", "--defer-by", "30m", "--name", "other", "mine")

    assert (ran.code, ran.out) == (0, "Updated lease: mine\n")
    changes = {"name": "other", "end_date": "2031-01-01 14:00", "start_date": "2031-01-01 10:30"}
    assert stub.calls == [
        ("GET", "/leases", None),
        ("GET", f"/leases/{ID}", None),
        ("PUT", f"/leases/{ID}", changes),
    ]


def test_reservations_are_updated_by_id(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})

    blazar("lease-update", ID, "--reservation", "id=r1,max=3", "--reservation", "min=2,id=r2")

    changes = {"reservations": [{"id": "r1", "max": 3}, {"id": "r2", "min": 2}]}
    assert stub.calls == [("PUT", f"/leases/{ID}", changes)]


def test_client_weakness_44_a_lease_can_be_ended_now(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})
    stub.respond({"lease": LEASE})

    blazar("lease-update", ID, "--end-date", "now")

    assert stub.calls[1] == ("PUT", f"/leases/{ID}", {"end_date": "now"})


def test_client_weakness_48_the_before_end_date_can_be_changed(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})

    blazar("lease-update", ID, "--before-end-date", "2031-01-01 11:30")

    assert stub.calls == [("PUT", f"/leases/{ID}", {"before_end_date": "2031-01-01 11:30"})]


@pytest.mark.parametrize("words", [["lease-update", ID], ["host-update", "1"], ["host-unset", "1"]])
def test_client_weakness_18_an_update_without_changes_is_refused(
    blazar: Run, stub: Stub, words: list[str]
) -> None:
    ran = blazar(*words)

    assert (ran.code, ran.out, stub.sent) == (1, "", [])
    assert "No change is given" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["--prolong-for", "1h", "--reduce-by", "1h"],
        ["--prolong-for", "1h", "--end-date", "now"],
        ["--defer-by", "1h", "--advance-by", "1h"],
    ],
)
def test_conflicting_changes_are_refused(blazar: Run, words: list[str]) -> None:
    assert blazar("lease-update", ID, *words).code == 2


def test_a_dry_run_of_an_update_prints_the_request(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})

    ran = blazar("lease-update", ID, "--prolong-for", "1d12h", "--dry-run", "-f", "json")

    assert ran.json == {"end_date": "2031-01-03 00:00"}
    assert [each.method for each in stub.sent] == ["GET"]


def test_client_weakness_32_an_update_can_print_the_changed_lease(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE | {"name": "other"}})

    ran = blazar("lease-update", ID, "--name", "other", "-f", "json")

    assert ran.json["name"] == "other"


def test_client_weakness_52_several_leases_are_deleted_at_once(blazar: Run, stub: Stub) -> None:
    stub.respond(status=204)
    stub.respond({"leases": []})
    stub.respond(status=204)

    ran = blazar("lease-delete", ID, "missing", OTHER)

    assert (ran.code, ran.out) == (1, f"Deleted lease: {ID}\nDeleted lease: {OTHER}\n")
    assert "missing: Unable to find resource with name 'missing': there is no such lease" in ran.err


def test_client_weakness_52_missing_leases_can_be_ignored(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": []})
    stub.respond({"error_code": 404, "error_message": "no such lease"}, status=404)

    ran = blazar("lease-delete", "missing", ID, "--ignore-not-found")

    assert (ran.code, ran.out) == (0, "")
