"""The command that searches for free times, on the embedded service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session

from blazarclient.v1.client import Client

from .test_embedded_service import on, unique

if TYPE_CHECKING:
    from .conftest import Run


DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
COLUMNS = ["start_date", "end_date", "latest_start_date", "amounts"]


@contextmanager
def reserved(embedded: Run, host: str, *options: str) -> Iterator[str]:
    """Reserve a host, and delete the lease in the end."""
    name = unique("busy")
    asked = ("--reservation", on(host), "-f", "json")
    created = embedded("lease-create", name, *options, *asked)
    assert created.code == 0, created.err
    try:
        yield str(created.json["end_date"])
    finally:
        embedded("lease-delete", name, "--wait")


def test_a_free_host_is_available_now(embedded: Run, host: str) -> None:
    (slot,) = embedded("availability", f"only={host}", "--duration", "4h", "-f", "json").json

    assert list(slot) == COLUMNS
    assert all(DATE.fullmatch(slot[each]) for each in COLUMNS[:3])
    assert slot["amounts"] == "1 physical:host"


def test_a_reserved_host_is_available_after_its_lease(embedded: Run, host: str) -> None:
    with reserved(embedded, host, "--duration", "2h") as end:
        found = embedded(
            "availability", f"only={host}", "--duration", "90m", "--before", "+10d", "-f", "json"
        )
        longest = embedded(
            *("availability", "--reservation", on(host), "--before", "+4h", "-f", "json"),
            *("--duration", "4h", "--min-duration", "1h"),
        )

    assert found.json[0]["start_date"] == end[:16].replace("T", " ")
    assert longest.json[0]["start_date"] == found.json[0]["start_date"]


def test_it_says_what_is_wrong_and_that_nothing_is_free(embedded: Run, host: str) -> None:
    refused = embedded("availability", "colour=red", "--duration", "1h")
    malformed = embedded("availability", "--hosts", "some", "--duration", "1h")
    unclear = embedded("availability", "rack=", "--duration", "1h")
    empty = embedded("availability", f"only={host}", "--hosts", "2", "--duration", "1h")

    assert (refused.code, "no host has a property named colour" in refused.err) == (1, True)
    assert (malformed.code, "--hosts: 'some' is not a number such as 2" in malformed.err) == (1, True)
    assert (unclear.code, "at character 6: expected a value" in unclear.err) == (1, True)
    reason = "Reason: physical:host: 2 needed, but only 1 registered"
    assert (empty.code, empty.out, empty.err) == (0, "", f"{reason}\nNo free times found.\n")


def test_the_library_takes_the_same_question(service: str, embedded: Run, host: str) -> None:
    session = ksa_session.Session(auth=noauth.NoAuth(endpoint=service))
    library = Client(session=session)
    reservation = {
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "hypervisor_properties": "",
        "resource_properties": f"only={host}",
    }

    found = library.availability.search([reservation], "4h", limit=1)

    assert found["complete"] is True
    (slot,) = found["slots"]
    (found_hosts,) = slot["reservations"]
    assert (found_hosts["resource_type"], found_hosts["amount"]) == ("physical:host", 1)
