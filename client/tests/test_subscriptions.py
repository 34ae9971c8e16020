"""Subscriptions to notices in the library and the commands, on the embedded service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session

from blazarclient.v1.client import Client

if TYPE_CHECKING:
    from .conftest import Run

URL = "https://hooks.invalid/leases?key=1"


def test_a_webhook_is_made_changed_tested_and_deleted(embedded: Run) -> None:
    made = embedded(
        *("subscription-create", "webhook", "--url", URL, "--event", "lease.ends_soon", "-f", "json"),
        *("--event", "lease.ended", "--lead-time", "1d", "--lead-time", "90m", "--scope", "own"),
    )
    key = made.json["id"]
    listed = embedded("subscription-list", "-f", "json").json

    assert made.json["secret"].startswith("whsec_")
    assert "not shown again" in made.err
    assert made.json["events"] == ["lease.ends_soon", "lease.ended"]
    assert made.json["lead_minutes"] == [1440, 90]
    assert (made.json["scope"], made.json["url"]) == ("own", URL)
    assert key in [each["id"] for each in listed]

    changed = embedded("subscription-update", key, "--event", "lease.started", "--rotate-secret", "--enable")
    assert changed.out == f"Updated subscription: {key}\n"
    assert "The new secret is whsec_" in changed.err
    assert embedded("subscription-update", key).err == "No change is given\n"
    shown = embedded("subscription-show", key, "-f", "json").json
    assert (shown["events"], "secret" in shown) == (["lease.started"], False)

    assert embedded("subscription-test", key).out.startswith("Sending a test message")
    (waiting,) = embedded("subscription-deliveries", key, "-f", "json").json
    assert (waiting["event"], waiting["status"]) == ("subscription.test", "waiting")

    assert embedded("subscription-update", key, "--disable", "-f", "json").json["enabled"] is False
    assert embedded("subscription-delete", key).out == f"Deleted subscription: {key}\n"
    assert embedded("subscription-show", key).code == 1


def test_operators_watch_the_site(embedded: Run) -> None:
    made = embedded(
        *("subscription-create", "webhook", "--url", URL, "--scope", "site", "-f", "json"),
        *("--resource-type", "physical:host", "--below", "3", "--waits", "15m"),
    ).json

    assert (made["scope"], made["below"], made["waits_minutes"]) == ("site", 3, 15)
    embedded("subscription-delete", made["id"])


def test_mistakes_are_explained(embedded: Run) -> None:
    mail = embedded("subscription-create", "mail")
    inside = embedded("subscription-create", "webhook", "--url", "https://127.0.0.1/")
    soon = embedded("subscription-create", "webhook", "--url", URL, "--lead-time", "soon")
    code = embedded("subscription-confirm", "00000000-0000-0000-0000-000000000000", "1234")

    assert (mail.code, "mail is not enabled here" in mail.err) == (1, True)
    assert (inside.code, "address 127.0.0.1 is not allowed" in inside.err) == (1, True)
    assert (soon.code, "Invalid time format for option." in soon.err) == (1, True)
    assert code.code == 1


def test_the_library_subscribes(service: str) -> None:
    session = ksa_session.Session(auth=noauth.NoAuth(endpoint=service))
    subscriptions = Client(session=session).subscription

    made = subscriptions.create("webhook", url=URL, events=["lease.ended"])

    assert subscriptions.update(made["id"], {"enabled": False})["enabled"] is False
    assert subscriptions.get(made["id"])["id"] in [each["id"] for each in subscriptions.list()]
    assert subscriptions.deliveries(made["id"]) == []
    subscriptions.delete(made["id"])
