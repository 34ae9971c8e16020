"""The catalogue and the calendar, on the embedded service, and the chart on its own."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

import pytest
from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session

from blazarclient import chart
from blazarclient.v1.client import Client

from .test_availability import reserved

if TYPE_CHECKING:
    from .conftest import Run, Stub


def found(*intervals: tuple[str, str, int, int], total: int = 8) -> dict[str, Any]:
    """Return an answer of the service for a week, with one group."""
    keys = ("start_date", "end_date", "free", "mine")
    dated = [dict(zip(keys, each, strict=True)) for each in intervals]
    group = {"value": "rack-with-a-very-long-name", "total": total, "intervals": dated}
    return {"from": "2031-04-01 00:00", "to": "2031-04-08 00:00", "groups": [group]}


def test_a_column_shows_the_least_number_that_is_free() -> None:
    answer = found(
        ("2031-04-01 00:00", "2031-04-02 00:00", 8, 0),
        ("2031-04-02 00:00", "2031-04-02 00:10", 0, 2),
        ("2031-04-02 00:10", "2031-04-03 00:00", 4, 0),
        ("2031-04-03 00:00", "2031-04-08 00:00", 7, 1),
    )

    header, row, marks, legend = chart.draw(answer, UTC, chart.PLAIN)

    assert row == f"rack-with-a-very {'#' * 8}.{'5' * 7}{'8' * 40}     8"
    assert marks == f"{'':17}{'':8}^{'':7}{'^' * 40}"
    assert header[17:].split()[:4] == ["Tue", "01", "Wed", "02"]
    assert header.index("Wed") == 17 + 8
    assert legend == ". none free, # all free, ^ own leases; a column is 3 h"
    assert max(map(len, (header, row, marks, legend))) <= 80


@pytest.mark.parametrize("levels", [chart.BLOCKS, chart.PLAIN])
def test_only_none_and_all_have_the_extreme_levels(levels: str) -> None:
    for total in (1, 2, 5, 1000):
        drawn = [chart.level(free, total, levels) for free in range(total + 1)]

        assert (drawn[0], drawn[-1]) == (levels[0], levels[-1])
        assert set(drawn[1:-1]).isdisjoint({levels[0], levels[-1]})
        assert drawn == sorted(drawn, key=levels.index)
    assert chart.level(0, 0, levels) == levels[0]


def test_blocks_need_utf8() -> None:
    assert chart.levels_for("UTF-8") == chart.levels_for("utf8") == chart.BLOCKS
    assert chart.levels_for("ascii") == chart.levels_for(None) == chart.PLAIN


def test_no_group_has_no_chart() -> None:
    header, legend = chart.draw({**found(), "groups": []}, UTC, chart.PLAIN)

    assert "Tue 01" in header
    assert legend


def test_the_calendar_shows_own_leases(embedded: Run, host: str) -> None:
    with reserved(embedded, host, "--duration", "2d"):
        drawn = embedded("calendar", f"only={host}", "--days", "4")
        listed = embedded("calendar", f"only={host}", "--days", "4", "--group-by", "only", "-f", "json")

    assert drawn.code == 0, drawn.err
    lines = drawn.out.splitlines()
    assert all(len(each) <= 80 for each in lines)
    assert lines[1].endswith("    1")
    assert "^" in lines[2]
    assert [(each["value"], each["free"], each["mine"]) for each in listed.json] == [
        (host, 0, 1),
        (host, 1, 0),
    ]
    assert list(listed.json[0]) == ["value", "start_date", "end_date", "free", "total", "mine"]


def test_the_calendar_says_what_is_wrong(embedded: Run, host: str) -> None:
    refused = embedded("calendar", "--group-by", "colour")
    too_long = embedded("calendar", "--days", "367")
    empty = embedded("calendar", f"only={host},only=other", "--group-by", "only")

    assert (refused.code, "group_by: no property named colour" in refused.err) == (1, True)
    assert (too_long.code, "--days: must be from 1 to 366" in too_long.err) == (1, True)
    assert (empty.code, empty.err) == (0, "No resources found.\n")


def test_the_catalogue_lists_properties_and_limits(embedded: Run, host: str) -> None:
    rows = embedded("catalogue", "-f", "json").json

    listed = {(each["kind"], each["name"]): each["value"] for each in rows}
    assert f"{host} (1)" in listed["property", "only"]
    assert listed["type", "physical:host"] >= 1
    assert listed["limit", "reservations_per_lease"] == 10


def test_properties_of_the_same_name_are_listed_with_their_types(blazar: Run, stub: Stub) -> None:
    properties = [
        {
            "property": name,
            "resource_types": types,
            "built_in": False,
            "values": [{"value": "r1", "reservable": 2}],
        }
        for name, types in (("rack", ["a:host", "a:slot"]), ("rack", ["a:pool"]), ("gpu", ["a:host"]))
    ]
    limits: dict[str, Any] = {"quotas": []}
    catalogue = {"resource_types": [], "properties": properties, "availability_zones": [], "limits": limits}
    stub.respond({"catalogue": catalogue})

    rows = blazar("catalogue", "-f", "json").json

    values = [(each["name"], each["value"]) for each in rows]
    assert values == [("rack", "r1 (2) [a:host, a:slot]"), ("rack", "r1 (2) [a:pool]"), ("gpu", "r1 (2)")]


def test_the_library_answers_the_same_questions(service: str, embedded: Run, host: str) -> None:
    library = Client(session=ksa_session.Session(auth=noauth.NoAuth(endpoint=service)))

    free = library.availability.groups(requirement=f"only={host}", group_by="only")
    size = "vcpus=1,memory_mb=1024,disk_gb=1"
    units = library.availability.groups("virtual:instance", requirement=f"only={host}", unit=size)
    rows = library.timeline.get(requirement=f"only={host}", resources=True)

    assert [(each["value"], each["total"]) for each in free["groups"]] == [(host, 1)]
    assert units["groups"][0]["total"] > 1
    assert [each["row"] for each in rows["resources"]] == [1]
    assert "physical:host" in {each["resource_type"] for each in library.catalogue.get()["resource_types"]}
