"""Usage in the library and the command, on the embedded service and with a stub."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session

from blazarclient import exception
from blazarclient.v1.client import Client

from .test_embedded_service import on, unique

if TYPE_CHECKING:
    from .conftest import Run, Stub

HOURS = {"reserved": 4.0, "in_use": 1.123456, "idle": 0.0, "no_show": 2.876544, "lost": 0.0, "unknown": 0.0}
STEPS = [
    {"start_date": "2031-04-05 00:00", "end_date": "2031-04-05 12:00"},
    {"start_date": "2031-04-05 12:00", "end_date": "2031-04-06 00:00"},
]


def answer(*, steps: bool = False, since: str | None = None) -> dict[str, Any]:
    """Return an answer with one group, which has hosts and their vCPUs."""
    more = {"steps": [HOURS, dict.fromkeys(HOURS, 0.0)]} if steps else {}
    amounts = [{"unit": "hosts", "resource_class": each, "hours": HOURS, **more} for each in (None, "VCPU")]
    return {
        "usage": {
            "by": "project",
            "property": None,
            "from": "2031-04-05 00:00",
            "to": "2031-04-06 00:00",
            "complete_since": since,
            "steps": STEPS if steps else [],
            "groups": [{"value": "demo", "amounts": amounts}],
        }
    }


def test_a_table_has_two_digits_and_json_has_all(blazar: Run, stub: Stub) -> None:
    stub.respond(answer())
    stub.respond(answer())

    shown = blazar("usage")
    found = blazar("usage", "-f", "json").json

    assert "| demo  | hosts |      4.0 |   1.12 |  0.0 |    2.88 |  0.0 |     0.0 |" in shown.out
    assert found == [{"value": "demo", "unit": "hosts", **HOURS}]


def test_resource_classes_and_steps_are_rows(blazar: Run, stub: Stub) -> None:
    stub.respond(answer(steps=True))

    rows = blazar("usage", "--step", "12h", "--resource-classes", "-f", "json").json

    assert [(each["resource_class"], each["start_date"][-5:], each["reserved"]) for each in rows] == [
        (None, "00:00", 4.0),
        (None, "12:00", 0.0),
        ("VCPU", "00:00", 4.0),
        ("VCPU", "12:00", 0.0),
    ]
    assert "step=720" in stub.sent[-1].path


def test_the_options_become_the_question(blazar: Run, stub: Stub) -> None:
    stub.respond(answer())

    period = ("--from", "2031-04-05 00:00", "--to", "2031-04-06 00:00")
    blazar("usage", "--property", "rack", "--resource-type", "physical:host", "--project", "p1", *period)

    query = stub.sent[-1].path.partition("?")[2]
    assert sorted(query.split("&")) == [
        "by=property",
        "from=2031-04-05+00%3A00",
        "project_id=p1",
        "property=rack",
        "resource_type=physical%3Ahost",
        "to=2031-04-06+00%3A00",
    ]


def test_the_days_end_with_the_period(blazar: Run, stub: Stub) -> None:
    stub.respond(answer())

    blazar("usage", "--days", "2", "--to", "2031-04-06 00:00")

    assert "from=2031-04-04+00%3A00" in stub.sent[-1].path
    refused = blazar("usage", "--days", "0")
    assert (refused.code, "--days: must be at least 1" in refused.err) == (1, True)
    refused = blazar("usage", "--days", "999999999")
    assert (refused.code, "--days: reaches back before the year 1" in refused.err) == (1, True)


def test_it_tells_since_when_the_records_are_complete(blazar: Run, stub: Stub) -> None:
    stub.respond(answer(since="2031-04-05 10:00"))
    stub.respond(answer(since="2031-04-01 10:00"))

    assert "before 2031-04-05 10:00 UTC are not included" in blazar("usage").err
    assert blazar("usage").err == ""


def test_a_lease_is_counted_on_the_service(service: str, embedded: Run, host: str) -> None:
    name = unique("usage")
    # Without what other tests reserved on a host of this name until now.
    by_host = ("usage", "--by", "host", "--from", "+1d", "--to", "+5d", "-f", "json")
    made = embedded(
        "lease-create", name, "--start-date", "+2d", "--duration", "2h", "--reservation", on(host)
    )
    assert made.code == 0, made.err
    rows = embedded(*by_host).json
    library = Client(session=ksa_session.Session(auth=noauth.NoAuth(endpoint=service)))
    found = library.usage.get(
        "property", property="only", before="2099-01-01 00:00", after="2098-12-01 00:00"
    )
    embedded("lease-delete", name, "--wait")

    assert [(each["reserved"], each["unknown"]) for each in rows if each["value"] == host] == [(2.0, 2.0)]
    assert (found["by"], found["groups"]) == ("property", [])
    after = embedded(*by_host).json
    assert host not in [each["value"] for each in after]


def test_the_service_names_the_bad_parameter(embedded: Run) -> None:
    refused = embedded("usage", "--step", "1m")

    assert (refused.code, "step: gives 43200 steps" in refused.err) == (1, True)


@pytest.mark.parametrize("step", ["1d", timedelta(days=1), timedelta(days=1, seconds=-1)])
def test_a_step_is_a_duration(service: str, step: str | timedelta) -> None:
    library = Client(session=ksa_session.Session(auth=noauth.NoAuth(endpoint=service)))

    found = library.usage.get(step=step)

    assert len(found["steps"]) == 30
    with pytest.raises(exception.InvalidDuration):
        library.usage.get(step="often")
