"""Leases and offers at the first free time, availability zones, and options that contradict each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from blazarclient import free_times

from .command_samples import HOSTS_ARGUMENT, LEASE
from .test_availability import reserved
from .test_embedded_service import on, unique

if TYPE_CHECKING:
    from .conftest import Run, Stub

ASKED = ("mine", "--earliest", "--duration", "2h", "--reservation", HOSTS_ARGUMENT)


def slots(*days: int, complete: bool = True) -> dict[str, Any]:
    found = [
        {"start_date": f"2031-01-0{day} 10:00", "end_date": f"2031-01-0{day} 12:00", "reservations": []}
        for day in days
    ]
    return {"slots": found, "complete": complete}


def refuse(stub: Stub) -> None:
    stub.respond({"error_code": 409, "error_message": "Not enough hosts available", "error_name": 409}, 409)


def test_a_lease_starts_after_the_lease_that_takes_the_host(embedded: Run, host: str) -> None:
    name = unique("earliest")
    with reserved(embedded, host, "--duration", "2h") as end:
        made = embedded(
            *("lease-create", name, "--earliest", "--duration", "90m"),
            *("--reservation", on(host), "-f", "json"),
        )
        embedded("lease-delete", name)

    assert made.code == 0, made.err
    assert made.json["start_date"][:16] == end[:16]


def test_a_lease_lies_between_two_dates(embedded: Run, host: str) -> None:
    where = ("--between", "2041-01-01 10:00", "--and", "2041-01-01 20:00", "--reservation", on(host))
    shown = embedded("lease-create", "dry", "--dry-run", "--duration", "4h", *where, "-f", "json")
    longest = embedded(
        *(
            "lease-create",
            "dry",
            "--dry-run",
            "--duration",
            "4d",
            "--min-duration",
            "1h",
            *where,
            "-f",
            "json",
        )
    )
    with reserved(embedded, host, "--start-date", "2041-01-01 13:00", "--duration", "4h"):
        impossible = embedded("lease-create", "dry", "--duration", "4h", *where)

    assert (shown.code, shown.err) == (0, "Nothing was created. The lease would be:\n")
    assert (shown.json["start_date"], shown.json["end_date"]) == ("2041-01-01 10:00", "2041-01-01 14:00")
    assert longest.json["end_date"] == "2041-01-01 20:00"
    assert impossible.code == 1
    assert "No free time of 4h between 2041-01-01 10:00 and 2041-01-01 20:00" in impossible.err
    assert "dry" not in embedded("lease-list", "-f", "value", "-c", "name").out.split()


def test_hold_makes_an_offer_and_says_how_to_commit_it(embedded: Run, host: str) -> None:
    name = unique("held")
    held = embedded(
        *("lease-create", name, "--earliest", "--duration", "1h", "--hold"),
        *("--reservation", on(host), "-f", "json"),
    )

    assert held.code == 0, held.err
    assert held.json["status"] == "OPEN"
    assert f"lease create --offer {held.json['id']} makes the lease" in held.err
    created = embedded("lease-create", "--offer", held.json["id"], "-f", "json")
    assert (created.code, created.json["name"]) == (0, name)
    embedded("lease-delete", name, "--wait")


def test_hold_works_with_dates(embedded: Run, host: str) -> None:
    dates = ("--start-date", "+2d", "--duration", "1h")
    lifetime = ("--hold", "--ttl", "86400000")
    refused = embedded("lease-create", "x", *dates, *lifetime, "--reservation", on(host))
    held = embedded("lease-create", "x", *dates, "--hold", "--ttl", "120", "--reservation", on(host))

    assert "ttl_seconds: must be at most" in refused.err
    assert held.code == 0, held.err
    assert held.out.startswith("Created a new offer:\n")
    assert embedded("offer-delete", "x").code == 0


def test_if_another_request_was_faster_the_search_is_repeated(blazar: Run, stub: Stub) -> None:
    stub.respond(slots(1))
    refuse(stub)
    stub.respond(slots(1, 2))
    stub.respond({"lease": LEASE}, 201)

    made = blazar("lease-create", *ASKED, "-f", "json")

    assert (made.code, made.json["id"]) == (0, LEASE["id"])
    sent = [body.get("start_date") for _method, path, body in stub.calls if path == "/leases"]
    assert sent == ["2031-01-01 10:00", "2031-01-02 10:00"]
    versions = [each.headers["OpenStack-API-Version"] for each in stub.sent if each.path == "/leases"]
    assert versions == ["reservation 1.1"] * 2


def test_the_number_of_searches_is_bounded(blazar: Run, stub: Stub) -> None:
    for day in range(1, 9):
        stub.respond(slots(day))
        refuse(stub)

    ran = blazar("lease-create", *ASKED)

    assert (ran.code, len(stub.sent)) == (1, 2 * free_times.SEARCHES)
    assert "Not enough hosts available" in ran.err


def test_it_says_that_no_time_is_free(blazar: Run, stub: Stub) -> None:
    stub.respond(slots(complete=False))

    ran = blazar("lease-create", *ASKED)

    assert (ran.code, len(stub.sent)) == (1, 1)
    assert "No free time of 2h in the next 90 days; the service stopped searching" in ran.err


def test_a_service_without_api_1_1_is_named(blazar: Run, stub: Stub) -> None:
    stub.respond({"error_code": 406, "error_message": "unsupported", "error_name": 406}, 406)

    ran = blazar("lease-create", *ASKED)

    assert (ran.code, "has only API 1.0" in ran.err) == (1, True)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--earliest", "--start-date", "+1d"), "--earliest cannot be combined with --start-date"),
        (("--earliest", "--end-date", "+1d"), "--earliest cannot be combined with --end-date"),
        (("--earliest", "--offer", "x"), "--earliest cannot be combined with --offer"),
        (("--earliest", "--between", "+1d", "--and", "+2d"), "with --between and --and, leave it out"),
        (("--between", "+1d"), "--between and --and must be given together"),
        (("--and", "+1d"), "--between and --and must be given together"),
        (("--between", "+1d", "--and", "+2d", "--before-end-date", "+1d"), "combined with --before-end-date"),
        (("--min-duration", "1h"), "--min-duration needs --earliest"),
        (("--ttl", "60"), "--ttl is the lifetime of an offer; it needs --hold"),
        (("--hold", "--wait"), "--hold cannot be combined with --wait"),
        (("--hold", "--take", "1"), "--hold cannot be combined with --take"),
    ],
)
def test_contradictory_options_are_refused(
    blazar: Run, stub: Stub, options: tuple[str, ...], problem: str
) -> None:
    ran = blazar("lease-create", "mine", *options, "--reservation", HOSTS_ARGUMENT)

    assert (ran.code, stub.sent) == (2, [])
    assert problem in ran.err


def test_the_duration_is_required(blazar: Run, stub: Stub) -> None:
    ran = blazar("lease-create", "mine", "--earliest", "--reservation", HOSTS_ARGUMENT)

    assert (ran.code, stub.sent) == (1, [])
    assert "--duration is missing" in ran.err


def test_an_availability_zone_is_added_to_the_requirements(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE}, 201)
    blazar(
        *("lease-create", "mine", "--availability-zone", "az1"),
        *("--reservation", HOSTS_ARGUMENT + ',hypervisor_properties=["==", "$vcpus", "4"]'),
        *("--reservation", "resource_type=virtual:instance,vcpus=1,memory_mb=1,disk_gb=1,amount=1"),
        *(
            "--reservation",
            "resource_type=virtual:floatingip,network_id=11111111-2222-3333-4444-555555555555",
        ),
    )

    hosts, instances, addresses = stub.sent[0].body["reservations"]
    zone = ["==", "$availability_zone", "az1"]
    assert json.loads(hosts["hypervisor_properties"]) == ["and", ["==", "$vcpus", "4"], zone]
    assert json.loads(instances["resource_properties"]) == zone
    assert "az1" not in str(addresses)


def test_an_availability_zone_is_added_to_a_short_form(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE}, 201)
    blazar(
        *("lease-create", "mine", "--availability-zone", 'az "1"'),
        *("--reservation", HOSTS_ARGUMENT + ",hypervisor_properties=vcpus>=4"),
    )

    (hosts,) = stub.sent[0].body["reservations"]
    assert hosts["hypervisor_properties"] == r'vcpus>=4,availability_zone="az \"1\""'
    assert stub.sent[0].headers["OpenStack-API-Version"] == "reservation 1.1"


def test_a_zone_needs_hosts(blazar: Run, stub: Stub) -> None:
    ran = blazar("lease-create", "mine", "--availability-zone", "az1")

    assert (ran.code, stub.sent) == (1, [])
    assert "--availability-zone needs a reservation of one of the types physical:host" in ran.err


def test_the_service_honours_the_zone(embedded: Run, host: str) -> None:
    when = ("--start-date", "+2d", "--duration", "1h", "--reservation", on(host), "--dry-run", "-f", "json")

    inside = embedded("lease-create", "x", "--availability-zone", "nova", *when)
    outside = embedded("lease-create", "x", "--availability-zone", "elsewhere", *when)

    assert (inside.code, outside.code) == (0, 1)
    assert "Not enough hosts" in outside.err


@pytest.mark.parametrize(
    "requirement", ['["or", [">=", "$vcpus", 1], ["exists", "$vcpus"]]', "vcpus>=1,memory_mb"]
)
def test_the_service_grants_what_needs_api_1_1(embedded: Run, host: str, requirement: str) -> None:
    name = unique("newer")
    asked = ("--reservation", f"{on(host)},hypervisor_properties={json.dumps(requirement)}")

    made = embedded("lease-create", name, "--start-date", "+2d", "--duration", "1h", *asked, "-f", "json")

    assert made.code == 0, made.err
    assert made.json["reservations"][0]["hypervisor_properties"] == requirement
    assert embedded("lease-delete", name).code == 0
