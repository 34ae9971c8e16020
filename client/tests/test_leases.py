"""Library: leases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from blazarclient import clock, exception
from blazarclient.v1.client import Client

if TYPE_CHECKING:
    from .conftest import Stub

LEASE = {
    "id": "L",
    "name": "old",
    "start_date": "2030-01-01T10:00:00.000000",
    "end_date": "2030-01-02T10:00:30.000000",
    "status": "PENDING",
}
RESERVATION = {"resource_type": "physical:host", "min": 1, "max": 2}


def test_a_request_to_create_a_lease_has_exactly_the_keys_of_the_api(stub: Stub, client: Client) -> None:
    stub.respond({"lease": LEASE}, status=201)

    created = client.lease.create("new", "now", "2030-01-01 12:00", [RESERVATION], [])

    assert created == LEASE
    assert stub.calls == [
        (
            "POST",
            "/leases",
            {
                "name": "new",
                "start_date": "now",
                "end_date": "2030-01-01 12:00",
                "reservations": [RESERVATION],
                "events": [],
                "before_end_date": None,
            },
        )
    ]


@pytest.mark.parametrize("keyword", ["before_end", "before_end_date"])
def test_the_before_end_date_has_two_keywords(stub: Stub, client: Client, keyword: str) -> None:
    stub.respond({"lease": LEASE}, status=201)
    dates: dict[str, Any] = {keyword: "2030-01-01 11:00"}

    client.lease.create(name="n", start="now", end="2030-01-01 12:00", reservations=[], events=[], **dates)

    assert stub.sent[0].body["before_end_date"] == "2030-01-01 11:00"


def test_a_datetime_is_sent_as_utc_to_the_minute(stub: Stub, client: Client) -> None:
    stub.respond({"lease": LEASE}, status=201)
    east = timezone(timedelta(hours=2))

    client.lease.create(
        "n",
        datetime(2030, 1, 1, 12, 0, 59, tzinfo=east),
        datetime(2030, 1, 1, 12, 0),  # noqa: DTZ001
        [],
        [],
        datetime(2030, 1, 1, 11, 0, tzinfo=UTC),
    )

    body = stub.sent[0].body
    assert (body["start_date"], body["end_date"], body["before_end_date"]) == (
        "2030-01-01 10:00",
        "2030-01-01 12:00",
        "2030-01-01 11:00",
    )


def test_leases_are_read_and_deleted(stub: Stub, client: Client) -> None:
    stub.respond({"lease": LEASE})
    stub.respond(None, status=204)

    assert client.lease.get("L") == LEASE
    client.lease.delete("L")

    assert stub.calls == [("GET", "/leases/L", None), ("DELETE", "/leases/L", None)]


def test_a_list_is_sorted_by_one_key_with_null_first(stub: Stub, client: Client) -> None:
    records = [{"n": "b", "x": 2}, {"n": None, "x": 1}, {"n": "", "x": "three"}, {"n": None, "x": None}]
    for _ in range(4):
        stub.respond({"leases": records})

    assert client.lease.list() == records
    assert [each["n"] for each in client.lease.list(sort_by="n")] == [None, None, "", "b"]
    assert [each["x"] for each in client.lease.list("x")] == [None, 1, 2, "three"]
    with pytest.raises(KeyError) as caught:
        client.lease.list(sort_by="no_such_key")
    assert str(caught.value) == "ERROR: cannot sort by 'no_such_key': not all items have it"
    assert isinstance(caught.value, exception.BlazarClientException)


# --- update -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sent"),
    [
        ({"prolong_for": "2h"}, {"end_date": "2030-01-02 12:00"}),
        ({"reduce_by": "2h"}, {"end_date": "2030-01-02 08:00"}),
        ({"reduce_by": "31s"}, {"end_date": "2030-01-02 09:59"}),
        ({"prolong_for": "29s"}, {"end_date": "2030-01-02 10:00"}),
        ({"end_date": "2030-1-3 8:5"}, {"end_date": "2030-01-03 08:05"}),
        ({"defer_by": "1d"}, {"start_date": "2030-01-02 10:00"}),
        ({"advance_by": "90m"}, {"start_date": "2030-01-01 08:30"}),
        ({"start_date": "2029-12-31 23:59"}, {"start_date": "2029-12-31 23:59"}),
        ({"start_date": datetime(2030, 1, 1, 9, tzinfo=UTC)}, {"start_date": "2030-01-01 09:00"}),
        ({"end_date": "2030-01-03 08:00", "prolong_for": "9d"}, {"end_date": "2030-01-03 08:00"}),
        ({"prolong_for": "1h", "reduce_by": "2h"}, {"end_date": "2030-01-02 11:00"}),
        ({"prolong_for": "", "reduce_by": "2h"}, {"end_date": "2030-01-02 08:00"}),
        ({"defer_by": "1h", "advance_by": "2h"}, {"start_date": "2030-01-01 11:00"}),
        (
            {"name": "new", "defer_by": "1h", "prolong_for": "1h"},
            {"name": "new", "start_date": "2030-01-01 11:00", "end_date": "2030-01-02 11:00"},
        ),
    ],
)
def test_a_change_of_dates_reads_the_lease_once_and_sends_only_the_changes(
    stub: Stub, client: Client, changes: dict[str, Any], sent: dict[str, Any]
) -> None:
    stub.respond({"lease": LEASE})
    stub.respond({"lease": LEASE | sent})

    updated = client.lease.update("L", **changes)

    assert updated == LEASE | sent
    assert stub.calls == [("GET", "/leases/L", None), ("PUT", "/leases/L", sent)]


@pytest.mark.parametrize(
    ("changes", "sent"),
    [
        ({"name": "new"}, {"name": "new"}),
        ({"reservations": [{"id": "R", "max": 3}]}, {"reservations": [{"id": "R", "max": 3}]}),
        ({"before_end_date": "2030-01-02 09:00"}, {"before_end_date": "2030-01-02 09:00"}),
    ],
)
def test_other_changes_are_sent_without_reading_first(
    stub: Stub, client: Client, changes: dict[str, Any], sent: dict[str, Any]
) -> None:
    stub.respond({"lease": LEASE})

    client.lease.update(lease_id="L", **changes)

    assert stub.calls == [("PUT", "/leases/L", sent)]


def test_an_update_without_changes_sends_nothing_and_returns_a_message(stub: Stub, client: Client) -> None:
    assert isinstance(client.lease.update("L"), str)
    assert isinstance(client.lease.update("L", name="", prolong_for="", reservations=[]), str)
    assert stub.sent == []


def test_now_is_sent_unchanged(stub: Stub, client: Client) -> None:
    stub.respond({"lease": LEASE})
    stub.respond({"lease": LEASE})

    client.lease.update("L", end_date="now")

    assert stub.calls[1] == ("PUT", "/leases/L", {"end_date": "now"})


@pytest.mark.parametrize(
    "date", ["2030-01-01", "2030-01-01T10:00", "2030-01-01 10:00:00", "2030-13-01 10:00"]
)
def test_a_date_in_another_form_is_a_value_error(stub: Stub, client: Client, date: str) -> None:
    stub.respond({"lease": LEASE})
    stub.respond({"lease": LEASE})

    with pytest.raises(ValueError, match="Required format"):
        client.lease.update("L", end_date=date)
    with pytest.raises(exception.InvalidDate):
        client.lease.update("L", start_date=date)

    assert [each.method for each in stub.sent] == ["GET", "GET"]


@pytest.mark.parametrize("duration", ["99999d", "999999999d", "9" * 18 + "d"])
def test_a_duration_beyond_the_year_9999_is_refused(stub: Stub, client: Client, duration: str) -> None:
    stub.respond({"lease": LEASE | {"end_date": "9999-12-31T00:00:00.000000"}})

    with pytest.raises(exception.BlazarClientException, match=r"year 9999|longer than") as caught:
        client.lease.update("L", prolong_for=duration)

    assert caught.value.code == 400


@pytest.mark.parametrize("duration", ["1d2h", "25h59m1s", timedelta(hours=26)])
def test_a_lease_is_created_with_a_duration(stub: Stub, client: Client, duration: str | timedelta) -> None:
    stub.respond({"lease": LEASE}, status=201)

    client.lease.create("new", "2030-01-01 10:00", reservations=[RESERVATION], duration=duration)

    assert stub.sent[0].body == {
        "name": "new",
        "start_date": "2030-01-01 10:00",
        "end_date": "2030-01-02 12:00",
        "reservations": [RESERVATION],
        "events": [],
        "before_end_date": None,
    }


def test_a_duration_counts_from_any_form_of_start_date(stub: Stub, client: Client) -> None:
    for _ in range(3):
        stub.respond({"lease": LEASE}, status=201)
    before = clock.now()

    client.lease.create("new", "now", reservations=[], duration="8h")
    client.lease.create("new", "2030-01-01T10:00+01:00", reservations=[], duration="8h")
    client.lease.create("new", datetime(2030, 1, 1, 9, tzinfo=UTC), reservations=[], duration="8h")

    relative, zoned, aware = ((each.body["start_date"], each.body["end_date"]) for each in stub.sent)
    assert relative[0] == "now"
    assert minute(before + timedelta(hours=8)) <= relative[1] <= minute(clock.now() + timedelta(hours=8))
    assert zoned == aware == ("2030-01-01 09:00", "2030-01-01 17:00")


def minute(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"reservations": []}, "either an end or a duration"),
        ({"end": "2030-01-01 12:00", "duration": "1h", "reservations": []}, "either an end or a duration"),
        ({"end": "2030-01-01 12:00"}, "reservations are missing"),
        (
            {"duration": "long", "reservations": []},
            "Invalid time format for option. 'long' is not a duration",
        ),
        ({"duration": timedelta(days=9999999), "reservations": []}, "after the year 9999"),
    ],
)
def test_an_incomplete_lease_is_refused(
    stub: Stub, client: Client, given: dict[str, Any], error: str
) -> None:
    with pytest.raises(exception.BlazarClientException, match=error):
        client.lease.create("new", "now", **given)

    assert stub.sent == []
