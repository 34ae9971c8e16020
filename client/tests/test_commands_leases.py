"""Commands about leases: what they send, by the stub's answers."""

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
    stub.will({"lease": LEASE}, status=201)

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
    stub.will({"lease": LEASE}, status=201)
    earliest = minute(timedelta(hours=24))

    blazar("lease-create", "--reservation", HOSTS_ARGUMENT, "mine")

    body = stub.sent[0].body
    assert body["start_date"] == "now"
    assert body["before_end_date"] is None
    assert earliest <= body["end_date"] <= minute(timedelta(hours=24))


def test_a_lease_that_starts_later_than_its_default_end_lasts_24_hours(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE}, status=201)

    blazar("lease-create", "--reservation", HOSTS_ARGUMENT, "--start-date", "2099-01-01 10:00", "mine")

    assert stub.sent[0].body["end_date"] == "2099-01-02 10:00"


def test_client_weakness_44_dates_can_be_local_relative_and_zoned_and_are_told_in_utc(
    blazar: Run, stub: Stub
) -> None:
    stub.will({"lease": LEASE}, status=201)

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
    stub.will({"lease": LEASE}, status=201)

    blazar(
        *("lease-create", "--start-date", "2031-01-01 10:00", "--duration", "1d2h"),
        *("--reservation", HOSTS_ARGUMENT, "mine"),
    )

    assert stub.sent[0].body["end_date"] == "2031-01-02 12:00"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--start-date", "2031-01-01 12:00", "--end-date", "2031-01-01 11:00"], "before it starts"),
        (["--end-date", "2001-01-01 11:00"], "before it starts"),
        ([*WHEN, "--before-end-date", "2031-01-01 13:00"], "is not within"),
        (["--start-date", "soon"], "Invalid date 'soon'"),
        (["--duration", "long"], "Invalid duration 'long'"),
        (["--reservation", "resource_type=physical:host,mim=1"], "did you mean min?"),
        (["--physical-reservation", "min=1"], "a reservation of physical:host needs: max"),
        (["--event", "event_type=x"], "event_date is missing"),
        (["--event", "event_kind=x"], "event_kind"),
        (["--from-file", "nowhere.json"], "nowhere.json"),
    ],
)
def test_client_weakness_38_each_mistake_has_a_sentence_of_its_own(
    blazar: Run, stub: Stub, words: list[str], reason: str
) -> None:
    ran = blazar("lease-create", "mine", *words)

    assert (ran.code, stub.sent, ran.out) == (1, [], "")
    assert reason in ran.err.strip().splitlines()[-1]


def test_client_weakness_05_events_are_passed_on_with_a_word_that_nothing_happens_then(
    blazar: Run, stub: Stub
) -> None:
    stub.will({"lease": LEASE}, status=201)

    ran = blazar("lease-create", *WHEN, "--event", "event_type=notify,event_date=2031-01-01 11:00", "mine")

    assert stub.sent[0].body["events"] == [{"event_type": "notify", "event_date": "2031-01-01 11:00"}]
    assert "does nothing at an --event" in ran.err


def test_a_lease_needs_a_name(blazar: Run, stub: Stub, tmp_path: Path) -> None:
    (tmp_path / "nameless.json").write_text("{}")

    assert blazar("lease-create", "--reservation", HOSTS_ARGUMENT).code == 2
    ran = blazar("lease-create", "--from-file", "nameless.json")
    assert (ran.code, ran.err, stub.sent) == (1, "The lease has no name\n", [])


def test_client_weakness_27_a_lease_without_a_reservation_is_created_with_a_warning(
    blazar: Run, stub: Stub
) -> None:
    stub.will({"lease": LEASE}, status=201)

    ran = blazar("lease-create", "mine")

    assert (ran.code, stub.sent[0].body["reservations"]) == (0, [])
    assert "no reservation" in ran.err


def test_a_lease_from_a_file_can_be_completed_by_options(blazar: Run, stub: Stub, tmp_path: Path) -> None:
    stub.will({"lease": LEASE}, status=201)
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


def test_a_dry_run_shows_the_request_and_sends_nothing(blazar: Run, stub: Stub) -> None:
    ran = blazar("lease-create", "--dry-run", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine", "-f", "json")

    assert (ran.code, stub.sent) == (0, [])
    assert ran.json["reservations"] == [HOSTS]
    assert ran.json["start_date"] == "2031-01-01 10:00"


@pytest.mark.parametrize("spelling", ["--prolong-for", "--prolong_for"])
@pytest.mark.parametrize("command", ["lease-update", "lease-set"])
def test_a_lease_is_updated_with_the_requests_of_4_6(
    blazar: Run, stub: Stub, spelling: str, command: str
) -> None:
    stub.will({"leases": [LEASE]})
    stub.will({"lease": LEASE})
    stub.will({"lease": LEASE})

    ran = blazar(command, spelling, "2h", "--defer-by", "30m", "--name", "other", "mine")

    assert (ran.code, ran.out) == (0, "Updated lease: mine\n")
    changes = {"name": "other", "end_date": "2031-01-01 14:00", "start_date": "2031-01-01 10:30"}
    assert stub.calls == [
        ("GET", "/leases", None),
        ("GET", f"/leases/{ID}", None),
        ("PUT", f"/leases/{ID}", changes),
    ]


def test_reservations_are_updated_by_their_ids(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE})

    blazar("lease-update", ID, "--reservation", "id=r1,max=3", "--reservation", "min=2,id=r2")

    changes = {"reservations": [{"id": "r1", "max": 3}, {"id": "r2", "min": 2}]}
    assert stub.calls == [("PUT", f"/leases/{ID}", changes)]


def test_client_weakness_44_a_lease_can_be_ended_now(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE})
    stub.will({"lease": LEASE})

    blazar("lease-update", ID, "--end-date", "now")

    assert stub.calls[1] == ("PUT", f"/leases/{ID}", {"end_date": "now"})


def test_client_weakness_48_the_before_end_date_can_be_changed(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE})

    blazar("lease-update", ID, "--before-end-date", "2031-01-01 11:30")

    assert stub.calls == [("PUT", f"/leases/{ID}", {"before_end_date": "2031-01-01 11:30"})]


@pytest.mark.parametrize("words", [["lease-update", ID], ["host-update", "1"], ["host-unset", "1"]])
def test_client_weakness_18_an_update_of_nothing_is_refused(
    blazar: Run, stub: Stub, words: list[str]
) -> None:
    ran = blazar(*words)

    assert (ran.code, ran.out, stub.sent) == (1, "", [])
    assert "There is nothing to change" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["--prolong-for", "1h", "--reduce-by", "1h"],
        ["--prolong-for", "1h", "--end-date", "now"],
        ["--defer-by", "1h", "--advance-by", "1h"],
    ],
)
def test_changes_that_exclude_each_other_are_refused(blazar: Run, words: list[str]) -> None:
    assert blazar("lease-update", ID, *words).code == 2


def test_a_dry_run_of_an_update_shows_what_would_be_sent(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE})

    ran = blazar("lease-update", ID, "--prolong-for", "1d12h", "--dry-run", "-f", "json")

    assert ran.json == {"end_date": "2031-01-03 00:00"}
    assert [each.method for each in stub.sent] == ["GET"]


def test_client_weakness_32_an_update_can_show_what_it_made(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE | {"name": "other"}})

    ran = blazar("lease-update", ID, "--name", "other", "-f", "json")

    assert ran.json["name"] == "other"


def test_client_weakness_52_several_leases_are_deleted_at_once(blazar: Run, stub: Stub) -> None:
    stub.will(status=204)
    stub.will({"leases": []})
    stub.will(status=204)

    ran = blazar("lease-delete", ID, "nobody", OTHER)

    assert (ran.code, ran.out) == (1, f"Deleted lease: {ID}\nDeleted lease: {OTHER}\n")
    assert "nobody: Unable to find lease with name 'nobody'" in ran.err


def test_client_weakness_52_what_is_not_there_may_count_as_deleted(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": []})
    stub.will({"error_code": 404, "error_message": "no such lease"}, status=404)

    ran = blazar("lease-delete", "nobody", ID, "--ignore-not-found")

    assert (ran.code, ran.out) == (0, "")
