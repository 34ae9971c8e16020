"""The options ``--same`` and ``--spread``, and the keys of reservations with these names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from blazarclient import reservations

from .command_samples import HOSTS_ARGUMENT, LEASE
from .test_embedded_service import on, unique

if TYPE_CHECKING:
    from .conftest import Run, Sent, Stub

WHEN = ("--start-date", "2041-01-01 10:00", "--duration", "1h")


def posted(stub: Stub) -> Sent:
    """Return the last request for a new lease."""
    return [each for each in stub.sent if each.method == "POST"][-1]


def test_the_options_apply_to_reservations_with_requirements(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE}, 201)

    blazar(
        *("lease-create", "mine", "--same", "rack", "--spread", "zone", *WHEN),
        *("--reservation", HOSTS_ARGUMENT),
        *("--reservation", "resource_type=virtual:floatingip,network_id=n,amount=1"),
    )

    request = posted(stub)
    hosts, addresses = request.body["reservations"]
    assert (hosts["same"], hosts["spread"]) == ("rack", "zone")
    assert "same" not in addresses
    assert request.headers["OpenStack-API-Version"] == "reservation 1.1"


def test_a_key_of_a_reservation_asks_for_the_version_that_knows_it(blazar: Run, stub: Stub) -> None:
    for asked, version in ((",same=rack", "reservation 1.1"), ("", None)):
        stub.respond({"lease": LEASE}, 201)
        blazar("lease-create", "mine", *WHEN, "--reservation", HOSTS_ARGUMENT + asked)
        assert posted(stub).headers.get("OpenStack-API-Version") == version


def test_a_change_asks_for_the_version_that_knows_it(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})
    stub.respond({"lease": LEASE})

    blazar("lease-update", LEASE["id"], "--reservation", f"id={LEASE['reservations'][0]['id']},spread=rack")

    request = stub.sent[-1]
    assert request.body["reservations"][0]["spread"] == "rack"
    assert request.headers["OpenStack-API-Version"] == "reservation 1.1"


@pytest.mark.parametrize("option", ["--same", "--spread"])
def test_a_lease_without_such_a_reservation_is_refused(blazar: Run, stub: Stub, option: str) -> None:
    ran = blazar("lease-create", "mine", option, "rack", *WHEN)

    assert ran.code == 1
    assert f"{option}: a reservation of one of the types physical:host, virtual:instance" in ran.err
    assert not stub.sent


def test_the_service_knows_the_properties(embedded: Run, host: str) -> None:
    name = unique("grouped")
    asked = ("--reservation", on(host), *WHEN)

    made = embedded("lease-create", name, "--same", "availability_zone", *asked, "-f", "json")
    unknown = embedded("lease-create", unique("grouped"), "--spread", "shelf", *asked)
    found = embedded("availability", "--hosts", "1", "--duration", "1h", "--same", "shelf")

    embedded("lease-delete", name)
    assert made.code == 0, made.err
    assert "spread: no resource has a property named shelf" in unknown.err
    assert "same: no resource has a property named shelf" in found.err


def test_without_values_nothing_changes() -> None:
    given = [{"resource_type": "physical:host"}]

    assert reservations.grouped(given, {"same": None, "spread": None}) is given
    assert not reservations.need_1_1(given)


def test_free_times_tell_the_groups_and_ask_for_preferences(blazar: Run, stub: Stub) -> None:
    values = [{"value": "r1", "amount": 2}, {"value": "r2", "amount": 1}]
    found = {
        "resource_type": "physical:host",
        "amount": 3,
        "preferences_met": 1,
        "groups": [{"property": "rack", "values": values}],
    }
    dates = dict.fromkeys(("start_date", "end_date", "latest_start_date"), "2031-01-01 10:00")
    stub.respond({"slots": [{**dates, "reservations": [found]}], "complete": True})

    ran = blazar(
        *("availability", "--hosts", "3", "--duration", "1h", "--spread", "rack", "--prefer", "gpu=h100"),
        *("--prefer", "vcpus>=64"),
    )

    assert "3 physical:host (rack=r1: 2, rack=r2: 1)" in ran.out
    (asked,) = stub.sent[-1].body["reservations"]
    assert (asked["prefer"], asked["spread"]) == (["gpu=h100", "vcpus>=64"], "rack")


def test_a_preference_needs_hosts(blazar: Run, stub: Stub) -> None:
    ran = blazar(
        *("availability", "--duration", "1h", "--prefer", "gpu=h100"),
        *("--reservation", "resource_type=virtual:floatingip,network_id=n,amount=1"),
    )

    assert ran.code == 1
    assert "--prefer is for hosts" in ran.err
