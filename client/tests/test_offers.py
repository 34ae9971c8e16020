"""Offers in the library and the commands, on the embedded service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session

from blazarclient import exception
from blazarclient.v1.client import Client

from .test_embedded_service import on, unique

if TYPE_CHECKING:
    from .conftest import Run


def asked(host: str) -> tuple[str, ...]:
    return ("--start-date", "+2d", "--duration", "2h", "--reservation", on(host), "-f", "json")


def test_an_offer_becomes_a_lease(embedded: Run, host: str) -> None:
    name = unique("held")

    made = embedded("offer-create", "--ttl", "600", *asked(host)).json
    listed = embedded("offer-list", "-f", "json").json
    refused = embedded("lease-create", unique("other"), *asked(host))
    created = embedded("lease-create", name, "--offer", made["id"], "-f", "json")
    again = embedded("lease-create", name, "--offer", made["id"])

    assert (made["status"], made["reservations"][0]["amount"]) == ("OPEN", 1)
    assert made["id"] in [each["id"] for each in listed]
    assert (refused.code, "Not enough hosts" in refused.err) == (1, True)
    assert (created.json["id"], created.json["name"]) == (made["id"], name)
    assert (again.code, "committed before" in again.err) == (1, True)
    assert embedded("offer-show", made["id"], "-f", "json").json["status"] == "COMMITTED"
    embedded("lease-delete", name, "--wait")


def test_a_deleted_offer_holds_nothing(embedded: Run, host: str) -> None:
    name = unique("named")
    embedded("offer-create", name, *asked(host))

    deleted = embedded("offer-delete", name)
    gone = embedded("lease-create", "--offer", name)

    assert (deleted.code, gone.code) == (0, 1)
    again = embedded("offer-create", *asked(host)).json
    assert embedded("offer-delete", again["id"]).code == 0


def test_options_that_the_offer_decides_are_refused(embedded: Run, host: str) -> None:
    answer = embedded("lease-create", "a", "--offer", "x", "--duration", "1h", "--reservation", on(host))

    assert answer.code != 0
    assert "leave out --duration, --reservation" in answer.err


def test_a_dry_run_sends_nothing(embedded: Run, host: str) -> None:
    before = embedded("offer-list", "-f", "json").json

    shown = embedded("offer-create", "--ttl", "60", "--dry-run", *asked(host))

    assert shown.json["ttl_seconds"] == 60
    assert embedded("offer-list", "-f", "json").json == before


def test_the_library_makes_and_commits_offers(service: str, host: str) -> None:
    library = Client(session=ksa_session.Session(auth=noauth.NoAuth(endpoint=service)))
    reservation = {
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "hypervisor_properties": "",
        "resource_properties": f"only={host}",
    }

    made = library.offer.create(
        "2041-01-01 10:00", "2041-01-01 12:00", [reservation], name="from the library", ttl_seconds=60
    )
    assert made["id"] in [each["id"] for each in library.offer.list()]
    lease = library.lease.commit(made["id"])

    assert lease["name"] == "from the library"
    assert library.offer.get(made["id"])["lease_id"] == lease["id"]
    library.lease.delete(lease["id"])
    with pytest.raises(exception.NotFound):
        library.offer.delete("unknown")


def test_what_a_longer_lease_needs_is_held_and_taken(embedded: Run, host: str) -> None:
    name, other = unique("longer"), unique("other")
    lease = embedded("lease-create", name, *asked(host)).json
    later = ("--start-date", "+2d3h", "--duration", "1h", "--reservation", on(host))

    made = embedded("lease-update", name, "--prolong-for", "2h", "--hold", "--ttl", "600", "-f", "json")
    refused = embedded("lease-create", other, *later)
    before = embedded("lease-show", name, "-f", "json").json
    changed = embedded("lease-update", name, "--offer", made.json["id"], "-f", "json")
    again = embedded("lease-update", name, "--offer", made.json["id"])

    assert (made.json["lease_id"], made.json["status"]) == (lease["id"], "OPEN")
    assert f"lease update {lease['id']} --offer {made.json['id']} makes the change" in made.err
    assert (refused.code, "Not enough hosts" in refused.err) == (1, True)
    assert before["end_date"] == lease["end_date"]
    assert changed.json["end_date"] == made.json["end_date"] > lease["end_date"]
    assert (again.code, "committed before" in again.err) == (1, True)
    embedded("lease-delete", name, "--wait")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--offer", "x", "--prolong-for", "1h", "--name", "y"), "leave out --name, --prolong-for"),
        (("--offer", "x", "--hold"), "leave out --hold"),
        (("--prolong-for", "1h", "--ttl", "60"), "--ttl needs --hold"),
        (("--prolong-for", "1h", "--hold", "--as-far-as-possible"), "--as-far-as-possible"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    embedded: Run, words: tuple[str, ...], text: str
) -> None:
    answer = embedded("lease-update", "a", *words)

    assert (answer.code, text in answer.err) == (2, True), answer.err


def test_dry_runs_of_held_changes_send_nothing(embedded: Run, host: str) -> None:
    name = unique("dry")
    embedded("lease-create", name, *asked(host))
    before = embedded("offer-list", "-f", "json").json

    held = embedded(
        "lease-update", name, "--prolong-for", "2h", "--hold", "--ttl", "60", "--dry-run", "-f", "json"
    )
    taken = embedded(
        "lease-update", name, "--offer", "0" * 8 + "-0000-4000-8000-" + "0" * 12, "--dry-run", "-f", "json"
    )

    assert held.json.keys() == {"end_date", "ttl_seconds"}
    assert "POST to /leases/" in held.err
    assert taken.json.keys() == {"offer_id"}
    assert embedded("offer-list", "-f", "json").json == before
    embedded("lease-delete", name, "--wait")


def test_the_library_holds_changes_and_makes_them(service: str, host: str) -> None:
    library = Client(session=ksa_session.Session(auth=noauth.NoAuth(endpoint=service)))
    reservation = {
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "hypervisor_properties": "",
        "resource_properties": f"only={host}",
    }
    made = library.offer.create("2041-01-01 10:00", "2041-01-01 12:00", [reservation], name="held")
    lease = library.lease.commit(made["id"])

    longer = library.lease.changes(lease["id"], prolong_for="2h")
    offer = library.offer.create_for_lease(lease["id"], longer, ttl_seconds=60)
    changed = library.lease.commit_change(lease["id"], offer["id"])

    assert offer["lease_id"] == lease["id"]
    assert changed["end_date"] == "2041-01-01T14:00:00.000000"
    with pytest.raises(exception.Conflict):
        library.lease.commit_change(lease["id"], offer["id"])
    library.lease.delete(lease["id"])
    with pytest.raises(exception.NotFound):
        library.offer.create_for_lease(lease["id"], longer)
