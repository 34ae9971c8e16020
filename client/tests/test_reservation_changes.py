"""Changes of reservations by ``lease update``: ids, additions, removals, releases and conflicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from blazarclient import exception, reservation_changes, reservations

from .command_samples import ID, LEASE

if TYPE_CHECKING:
    from .conftest import Run, Stub

SOME = "11111111-2222-3333-4444-555555555555"
LIKE_IT = "11111111-9999-3333-4444-555555555555"


def lease_of(*kinds: str) -> dict[str, Any]:
    ids = (SOME, LIKE_IT)
    return {"reservations": [{"id": ids[index], "resource_type": kind} for index, kind in enumerate(kinds)]}


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({"max": 3}, ["physical:host"]),
        ({"max": 3, "id": "11111111"}, ["physical:host"]),
        ({"max": 3, "id": "11111111-2"}, ["physical:host", "physical:host"]),
        ({"max": 3, "resource_type": "physical:host"}, ["physical:host", "virtual:instance"]),
        ({"max": 3, "id": SOME}, ["physical:host", "virtual:instance"]),
    ],
)
def test_a_change_that_matches_one_reservation_needs_no_whole_id(
    change: dict[str, Any], kinds: list[str]
) -> None:
    assert reservation_changes.with_ids([change], lease_of(*kinds)) == [{**change, "id": SOME}]


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({"max": 3}, ["physical:host", "physical:host"]),
        ({"max": 3, "id": "11111111"}, ["physical:host", "virtual:instance"]),
        ({"max": 3, "id": "22222222"}, ["physical:host"]),
        ({"max": 3, "resource_type": "virtual:instance"}, ["physical:host"]),
        ({"max": 3}, []),
    ],
)
def test_a_change_without_a_unique_match_is_refused_with_the_ids(
    change: dict[str, Any], kinds: list[str]
) -> None:
    with pytest.raises(exception.IncorrectLease) as caught:
        reservation_changes.with_ids([change], lease_of(*kinds))

    assert "Add the id of the reservation to change, as in id=<id>,max=4; the lease has: " in str(
        caught.value
    )
    assert all(f"({kind})" in str(caught.value) for kind in kinds)


def test_a_whole_id_is_sent_unchanged() -> None:
    assert not reservation_changes.need_lease([{"id": SOME}, {"id": "r1"}])
    assert reservation_changes.with_ids([{"id": "r1"}], lease_of("physical:host")) == [{"id": "r1"}]


HELD = [
    {
        "reservation_id": SOME,
        "resource_type": "physical:host",
        "resources": [{"id": "17", "name": "host-17"}, {"id": "18", "name": "host-18"}],
    },
    {
        "reservation_id": LIKE_IT,
        "resource_type": "virtual:floatingip",
        "resources": [{"id": "f1", "name": "192.0.2.5"}],
    },
]
"""The answer of the service to what the lease below holds."""

HOLDING = {**LEASE, **lease_of("physical:host", "virtual:floatingip")}


def sent_changes(stub: Stub) -> tuple[str | None, Any]:
    """Return the API version and the reservations of the only PUT."""
    (put,) = (each for each in stub.sent if each.method == "PUT")
    return put.headers.get("OpenStack-API-Version"), put.body["reservations"]


def test_hosts_and_addresses_are_released_by_name_or_id(blazar: Run, stub: Stub) -> None:
    stub.respond({"resources": HELD})
    stub.respond({"lease": LEASE})

    ran = blazar("lease-update", ID, *("--release", "host-17", "--release", "18", "--release", "192.0.2.5"))

    assert ran.code == 0
    assert sent_changes(stub) == (
        "reservation 1.1",
        [{"id": SOME, "release": ["17", "18"]}, {"id": LIKE_IT, "release": ["f1"]}],
    )


def test_a_resource_that_the_lease_does_not_hold_is_named_with_those_that_it_does(
    blazar: Run, stub: Stub
) -> None:
    stub.respond({"resources": HELD})

    ran = blazar("lease-update", ID, "--release", "host-71")

    assert ran.code == 1
    assert "does not hold host-71; it holds: host-17, host-18, 192.0.2.5" in ran.err
    assert [each.method for each in stub.sent] == ["GET"]


def test_an_extension_says_what_to_do_with_conflicts_of_each_reservation(blazar: Run, stub: Stub) -> None:
    instance = {"id": "i", "resource_type": "virtual:instance"}
    lease = {**HOLDING, "reservations": [*HOLDING["reservations"], instance]}
    for _reading in range(2):
        stub.respond({"lease": lease})
    stub.respond({"lease": LEASE})

    blazar("lease-update", ID, "--prolong-for", "2h", "--on-conflict", "drop")

    assert sent_changes(stub) == (
        "reservation 1.1",
        [{"id": SOME, "on_conflict": "drop"}, {"id": LIKE_IT, "on_conflict": "drop"}],
    )


def test_one_reservation_can_have_its_own_treatment_of_conflicts(blazar: Run, stub: Stub) -> None:
    for _reading in range(2):
        stub.respond({"lease": HOLDING})
    stub.respond({"lease": LEASE})

    blazar(
        *("lease-update", ID, "--end-date", "2031-01-01 14:00", "--on-conflict", "replace"),
        *("--reservation", "resource_type=virtual:floatingip,on_conflict=drop"),
    )

    assert sent_changes(stub)[1] == [
        {"resource_type": "virtual:floatingip", "on_conflict": "drop", "id": LIKE_IT},
        {"id": SOME, "on_conflict": "replace"},
    ]


def test_conflicts_without_new_dates_are_refused(blazar: Run, stub: Stub) -> None:
    ran = blazar("lease-update", ID, "--on-conflict", "drop")

    assert (ran.code, stub.sent) == (1, [])
    assert "--on-conflict needs new dates" in ran.err


def test_reservations_are_added_and_removed_in_one_request(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": HOLDING})
    stub.respond({"lease": LEASE})

    blazar(
        *("lease-update", ID, "--remove-reservation", "physical:host"),
        *("--add-reservation", "resource_type=network,network_name=data"),
    )

    assert sent_changes(stub) == (
        "reservation 1.1",
        [
            {"resource_type": "physical:host", "remove": True, "id": SOME},
            {
                "network_name": "data",
                "amount": 1,
                "network_properties": "",
                "resource_properties": "",
                "resource_type": "network",
            },
        ],
    )


def test_a_reservation_can_be_removed_by_the_beginning_of_its_id(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": HOLDING})
    stub.respond({"lease": LEASE})

    blazar("lease-update", ID, "--remove-reservation", SOME[:10])

    assert sent_changes(stub)[1] == [{"id": SOME, "remove": True}]


def test_keys_of_newer_changes_are_read_in_their_types() -> None:
    assert reservations.to_update('id=r,release=["17","18"]') == {
        "id": "r",
        "release": ["17", "18"],
    }
    assert reservations.to_update("id=r,remove=true") == {"id": "r", "remove": True}
    with pytest.raises(exception.IncorrectLease, match="remove must be true or false, not 'yes'"):
        reservations.to_update("id=r,remove=yes")


@pytest.mark.parametrize(
    "option",
    [
        ["--release", "host-17"],
        ["--on-conflict", "drop"],
        ["--remove-reservation", SOME],
        ["--add-reservation", "resource_type=network,network_name=data"],
    ],
)
def test_an_offer_decides_about_reservations_too(blazar: Run, stub: Stub, option: list[str]) -> None:
    ran = blazar("lease-update", ID, "--offer", "mine", *option)

    assert (ran.code, stub.sent) == (2, [])
    assert f"--offer decides the change; leave out {option[0]}" in ran.err
