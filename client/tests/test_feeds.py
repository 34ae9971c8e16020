"""Feeds in the library, the commands and openstacksdk, on the embedded service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests
from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session

from blazarclient.v1.client import Client

from .command_samples import ID
from .test_embedded_service import on, unique

if TYPE_CHECKING:
    from .conftest import Run, Stub


def read(url: str) -> requests.Response:
    """Return the answer to a calendar program."""
    with requests.Session() as session:
        session.trust_env = False
        return session.get(url, timeout=60)


def test_a_feed_of_a_lease_is_created_read_and_deleted(embedded: Run, host: str) -> None:
    name = unique("shown")
    lease = embedded(
        *("lease-create", name, "--start-date", "+9d", "--duration", "2h"),
        *("--reservation", on(host), "-f", "json"),
    ).json

    title = unique("title")
    made = embedded(
        *("feed-create", "lease", "--lease", name, "--name", title, "--alarm-minutes", "15"), "-f", "json"
    )
    text = read(made.json["url"]).text
    shown = embedded("feed-show", title, "-f", "json").json
    listed = embedded("feed-list", "-f", "json").json

    assert made.err == "Created a new feed:\n"
    assert f"UID:{lease['id']}@blazar\r\n" in text
    assert f"SUMMARY:{name}\r\n" in text
    assert "TRIGGER;RELATED=END:-PT15M\r\n" in text
    assert "url" not in shown
    assert (shown["lease_id"], shown["alarm_minutes"]) == (lease["id"], 15)
    (row,) = (each for each in listed if each["name"] == title)
    assert (row["id"], row["kind"]) == (made.json["id"], "lease")

    assert embedded("feed-delete", title).code == 0
    embedded("lease-delete", name, "--wait")
    assert read(made.json["url"]).status_code == 404
    assert embedded("feed-show", title).code == 1


def test_a_feed_shows_when_nothing_is_free(embedded: Run, host: str) -> None:
    made = embedded(
        *("feed-create", "availability", "--resource-type", "physical:host", "--amount", "1000"),
        *("--filter", f"only={host}", "-f", "json"),
    ).json

    assert "SUMMARY:Fewer than 1000 physical:host free\r\n" in read(made["url"]).text
    embedded("feed-delete", made["id"])


def test_a_group_is_a_property_and_its_value(embedded: Run, host: str) -> None:
    made = embedded(
        *("feed-create", "availability", "--resource-type", "physical:host"),
        *("--group", f"only={host}", "-f", "json"),
    ).json
    refused = embedded("feed-create", "availability", "--resource-type", "physical:host", "--group", "only=")

    assert (made["group_by"], made["group"]) == ("only", host)
    assert (refused.code, refused.err) == (1, "--group must be a property and its value: rack=r3\n")
    embedded("feed-delete", made["id"])


def test_the_library_has_feeds(service: str) -> None:
    library = Client(session=ksa_session.Session(auth=noauth.NoAuth(endpoint=service)))

    made = library.feed.create("user", name=unique("mine"))

    assert read(made["url"]).text.startswith("BEGIN:VCALENDAR\r\n")
    shown = {key: value for key, value in made.items() if key != "url"}
    assert library.feed.get(made["id"])["name"] == shown["name"]
    assert made["id"] in [each["id"] for each in library.feed.list(sort_by="created_at")]
    assert made["id"] not in [each["id"] for each in library.feed.list(project_id="nowhere & nothing")]
    library.feed.delete(made["id"])


def test_requests_name_api_1_1_and_only_what_is_given(stub: Stub, client: Client) -> None:
    feed: dict[str, Any] = {"id": ID, "kind": "project", "name": ""}
    stub.respond({"feed": feed}, 201)
    stub.respond({"feeds": [feed]})
    stub.respond(None, 204)

    client.feed.create("project", name=None, alarm_minutes=0)
    client.feed.list(project_id="p 1")
    client.feed.delete(ID)

    assert stub.calls == [
        ("POST", "/feeds", {"kind": "project", "alarm_minutes": 0}),
        ("GET", "/feeds?project_id=p+1", None),
        ("DELETE", f"/feeds/{ID}", None),
    ]
    assert {each.headers["OpenStack-API-Version"] for each in stub.sent} == {"reservation 1.1"}
