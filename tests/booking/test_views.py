"""Documents of leases and resources: the formats of their instants, and keys that an operator chooses."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from samples import make_floatingip, make_host, make_lease

from blazar.booking.views import allocation_view, held_view, lease_view, property_view
from blazar.domain.formats import API, CHANGED, USAGE, Formats
from blazar.domain.interval import Interval
from blazar.domain.lease import LeaseId, ReservationId, ResourceId
from blazar.domain.plugin_resources import ResourceProperty
from blazar.plugins.floatingips.views import floatingip_view
from blazar.plugins.hosts.views import host_view
from blazar.ports.allocations import BookedWindow, HeldResource

MOMENT = datetime(2031, 4, 5, 6, 7, 8, 901234, tzinfo=UTC)
START, END = datetime(2031, 4, 5, 20, tzinfo=UTC), datetime(2031, 4, 6, 6, tzinfo=UTC)


def test_a_lease_has_the_dates_and_stamps_of_the_api() -> None:
    lease = make_lease(start=20, end=30, created_at=MOMENT)

    shown: Any = lease_view(lease, {})

    assert (shown["start_date"], shown["end_date"]) == (
        "2031-01-01T20:00:00.000000",
        "2031-01-02T06:00:00.000000",
    )
    assert (shown["created_at"], shown["updated_at"]) == ("2031-04-05 06:07:08", None)
    assert [each["time"] for each in shown["events"]] == [
        "2031-01-01T20:00:00.000000",
        "2031-01-02T05:30:00.000000",
        "2031-01-02T06:00:00.000000",
    ]
    for part in (*shown["reservations"], *shown["events"]):
        assert (part["created_at"], part["updated_at"]) == ("2031-01-01 00:00:00", None)


def test_a_usage_document_has_all_instants_in_one_format() -> None:
    lease = make_lease(start=20, end=30, created_at=MOMENT)

    shown: Any = lease_view(lease, {}, USAGE)

    assert (shown["start_date"], shown["created_at"]) == ("2031-01-01T20:00:00", "2031-04-05T06:07:08")
    assert shown["events"][0]["time"] == "2031-01-01T20:00:00"
    assert shown["reservations"][0]["created_at"] == "2031-01-01T00:00:00"


@pytest.mark.parametrize("formats", [API, CHANGED, USAGE])
def test_instants_are_written_in_utc(formats: Formats) -> None:
    local = MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))

    assert formats.date(local) == formats.date(MOMENT)
    assert formats.stamp(local) == formats.stamp(MOMENT)
    assert formats.date(None) is None
    assert formats.stamp(None) is None


def test_a_document_is_the_callers_own() -> None:
    lease = make_lease()
    shown: Any = lease_view(lease, {})
    before = json.dumps(shown)

    shown["reservations"][0]["id"] = shown["events"][0]["id"] = "changed"

    assert json.dumps(lease_view(lease, {})) == before


@pytest.mark.parametrize("text", ["2031-04-05T06:07:08+02:00", "2031-04-05", "last spring"])
def test_a_capability_masks_a_field_and_is_shown_as_it_is(text: str) -> None:
    names = ("created_at", "updated_at", "start_date", "time")
    host = make_host(capabilities=dict.fromkeys(names, text), created_at=MOMENT)

    for formats in (API, USAGE):
        shown = host_view(host, formats=formats)
        assert {key: shown[key] for key in names} == dict.fromkeys(names, text)


def test_a_host_has_stamps_and_a_hidden_capability_masks_nothing() -> None:
    host = make_host(capabilities={"created_at": "last spring"}, created_at=MOMENT)

    shown = host_view(host, {"created_at"})

    assert (shown["created_at"], shown["updated_at"]) == ("2031-04-05 06:07:08", None)


def test_a_new_floating_ip_and_a_changed_property_have_stamps_in_the_format_of_dates() -> None:
    floatingip = make_floatingip(created_at=MOMENT)
    gpu = ResourceProperty(id="p", resource_type="physical:host", name="gpu", created_at=MOMENT)

    assert floatingip_view(floatingip)["created_at"] == "2031-04-05 06:07:08"
    assert floatingip_view(floatingip, CHANGED)["created_at"] == "2031-04-05T06:07:08.901234"
    assert property_view(gpu)["created_at"] == "2031-04-05T06:07:08.901234"
    assert property_view(gpu)["updated_at"] is None


def test_allocations_have_the_dates_of_their_leases() -> None:
    dates = {"start_date": "2031-04-05T20:00:00.000000", "end_date": "2031-04-06T06:00:00.000000"}
    reservation_id, host_id = ReservationId("r"), ResourceId("1")
    booked = BookedWindow(
        resource_id=host_id, reservation_id=reservation_id, lease_id=LeaseId("l"), start=START, end=END
    )
    held = HeldResource(
        reservation_id=reservation_id,
        resource_id=host_id,
        name="node-1",
        slots=None,
        window=Interval(START, END),
    )

    assert allocation_view("1", [booked]) == {
        "resource_id": "1",
        "reservations": [{"id": "r", "lease_id": "l", **dates}],
    }
    assert held_view(held, "physical:host") == {
        "reservation_id": "r",
        "resource_type": "physical:host",
        "resource_id": "1",
        "name": "node-1",
        "amount": 1,
        **dates,
    }
