"""Subscriptions to notices: who may make, see and change them, and with which values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from app.conftest import EnvWith
from app.http_env import ADMIN, LESSEE, NEWER, READER, STRANGER, HttpEnv, Json, Who, good, refusal
from app.subscribing import URL, Noticing, make_noticing, noticing_settings

from blazar.db.subscriptions import SqlSubscriptions
from blazar.domain.notices import OF_SITE, NoticeType

COLLEAGUE = replace(LESSEE, user="colleague")
HOMELESS = replace(ADMIN, project=None)
ORDINARY = [each.value for each in NoticeType if each not in OF_SITE]


@pytest.fixture
def noticing(env_with: EnvWith) -> Noticing:
    return make_noticing(env_with(noticing_settings(per_project=5)))


class TestMaking:
    def test_a_webhook_for_all_leases_of_the_project(self, noticing: Noticing) -> None:
        made = noticing.subscribe()

        secret = made.pop("secret")
        assert secret.startswith("whsec_")
        assert made == {
            "id": made["id"],
            "kind": "webhook",
            "scope": "project",
            "project_id": "project",
            "user_id": "user",
            "lease_id": None,
            "events": ORDINARY,
            "url": URL,
            "address": None,
            "lead_minutes": [1440, 60],
            "time_zone": "UTC",
            "language": "en",
            "resource_type": None,
            "below": None,
            "waits_minutes": None,
            "enabled": True,
            "confirmed": True,
            "default": False,
            "problem": None,
            "failing_since": None,
            "succeeded_at": None,
            "created_at": made["created_at"],
            "updated_at": None,
        }
        assert noticing.show(made) == made
        assert noticing.all() == [made]

    def test_mail_to_the_own_address_about_a_lease(self, noticing: Noticing) -> None:
        lease = noticing.env.create(10, 20)

        made = noticing.subscribe(
            kind="mail",
            lease_id=lease["id"],
            events=["lease.ended", "lease.ends_soon"],
            lead_minutes=[5, 30, 5],
            time_zone="Europe/Berlin",
            language="de",
        )

        assert "secret" not in made
        assert (made["scope"], made["lease_id"], made["address"]) == ("lease", lease["id"], None)
        assert made["events"] == ["lease.ends_soon", "lease.ended"]
        assert made["lead_minutes"] == [30, 5]
        assert (made["time_zone"], made["language"]) == ("Europe/Berlin", "de")

    def test_each_has_a_secret_of_its_own(self, noticing: Noticing) -> None:
        assert noticing.subscribe()["secret"] != noticing.subscribe()["secret"]

    @pytest.mark.parametrize(
        ("keys", "problem"),
        [
            ({"kind": "pigeon"}, "kind"),
            ({"kind": None}, "kind"),
            ({"url": None}, "Missing parameter url"),
            ({"url": "http://hooks.example.org/"}, "url: must begin with https://"),
            ({"url": "https://127.0.0.1/"}, "url: address 127.0.0.1 is not allowed here"),
            ({"url": "https://hooks.example.org:25/"}, "url: port 25"),
            ({"url": 7}, "url"),
            ({"address": "a@example.org"}, "address: does not belong to the kind webhook"),
            ({"kind": "mail"}, "url: does not belong to the kind mail"),
            ({"events": ["lease.sold"]}, "events"),
            ({"events": "lease.ended"}, "events"),
            ({"events": ["resources.low"]}, "events: resources.low needs the scope site"),
            ({"lead_minutes": [0]}, "lead_minutes"),
            ({"lead_minutes": [43201]}, "lead_minutes"),
            ({"lead_minutes": [True]}, "lead_minutes"),
            ({"lead_minutes": list(range(1, 12))}, "lead_minutes: must have at most 10"),
            ({"time_zone": "Mars/Olympus"}, "time_zone: must be a name of the IANA"),
            ({"time_zone": "../../../etc/passwd"}, "time_zone"),
            ({"time_zone": ""}, "time_zone"),
            ({"language": "tlh"}, "language: must be one of de, en"),
            ({"lease_id": "nowhere"}, "lease_id: the project has no lease nowhere"),
            ({"scope": "lease"}, "lease_id: must be given for the scope lease"),
            ({"scope": "own", "lease_id": "nowhere"}, "lease_id: must be given for the scope lease, and"),
            ({"scope": "world"}, "scope"),
            ({"scope": "site"}, "scope: site needs the rights of an operator"),
            ({"below": 3}, "below: needs the scope site"),
            ({"waits_minutes": 3}, "waits_minutes: needs the scope site"),
            ({"resource_type": "physical:host"}, "resource_type: needs the scope site"),
            ({"secret": "whsec_own"}, "secret"),
            ({"project_id": "other"}, "project_id"),
        ],
    )
    def test_bad_values_are_refused_with_their_key(
        self, noticing: Noticing, keys: dict[str, Any], problem: str
    ) -> None:
        before = noticing.env.snapshot()

        assert problem in noticing.refused(**keys)
        assert noticing.env.snapshot() == before

    @pytest.mark.parametrize(
        ("address", "problem"),
        [
            ("a@elsewhere.example", "address: the domain elsewhere.example is not allowed"),
            ("a@example.org\nBcc: b@example.org", "address: must be a mail address"),
            ("a@example.org,b@example.org", "address: must be a mail address"),
            ("", "address: must be a mail address"),
        ],
    )
    def test_addresses_elsewhere_are_refused(self, noticing: Noticing, address: str, problem: str) -> None:
        assert problem in noticing.refused(kind="mail", url=None, address=address)

    def test_a_lease_of_another_project_does_not_exist(self, noticing: Noticing) -> None:
        lease = noticing.env.create(10, 20, who=STRANGER)

        message = noticing.refused(lease_id=lease["id"])

        assert message == f"lease_id: the project has no lease {lease['id']}"

    def test_a_project_has_only_so_many(self, noticing: Noticing) -> None:
        for _ in range(5):
            noticing.subscribe()

        assert "has 5 subscriptions, which is the limit" in noticing.refused(409)
        noticing.subscribe(who=STRANGER)

    def test_a_kind_that_is_not_enabled_is_refused(self, env_with: EnvWith) -> None:
        noticing = make_noticing(env_with(noticing_settings(channels=frozenset())))

        assert noticing.refused() == (
            "kind: webhook is not enabled here; enabled kinds: none ([notices] channels)"
        )

    def test_at_api_1_0_there_are_none(self, noticing: Noticing) -> None:
        refused = noticing.env.post("/subscriptions", {"kind": "webhook", "url": URL}, who=LESSEE)

        assert refused.status_code == 404

    def test_a_token_without_a_project_gets_none(self, noticing: Noticing) -> None:
        noticing.subscribe()

        assert noticing.all(who=HOMELESS) == []
        assert "needs a token for a project" in noticing.refused(who=HOMELESS)


class TestAccess:
    @pytest.mark.parametrize(("method", "body"), [("GET", None), ("PUT", {}), ("DELETE", None)])
    @pytest.mark.parametrize("who", [STRANGER, ADMIN, HOMELESS], ids=["stranger", "operator", "homeless"])
    def test_other_projects_do_not_see_it(
        self, noticing: Noticing, method: str, body: object, who: Who
    ) -> None:
        made = noticing.subscribe()

        answer = noticing.ask(method, body, f"/{made['id']}", who=who)

        assert refusal(answer, 404) == f"subscription_id: there is no subscription {made['id']}"
        assert noticing.all(who=who) == []
        assert noticing.show(made)["updated_at"] is None

    def test_readers_see_and_change_nothing(self, noticing: Noticing) -> None:
        made = noticing.subscribe()
        path = f"/{made['id']}"

        assert len(noticing.all(who=READER)) == 1
        refusal(noticing.ask("POST", {"kind": "webhook", "url": URL}, who=READER), 403)
        refusal(noticing.ask("PUT", {"enabled": False}, path, who=READER), 403)
        refusal(noticing.ask("DELETE", None, path, who=READER), 403)
        refusal(noticing.ask("POST", None, f"{path}/test", who=READER), 403)

    def test_a_colleague_deletes_it_but_does_not_see_the_key_in_its_url(self, noticing: Noticing) -> None:
        made = noticing.subscribe()
        mail = noticing.subscribe(kind="mail", address="someone@example.org")

        assert noticing.show(made, who=COLLEAGUE)["url"] == "https://hooks.example.org/…"
        assert noticing.show(mail, who=COLLEAGUE)["address"] == "…@example.org"
        good(noticing.ask("DELETE", None, f"/{made['id']}", who=COLLEAGUE), 204)
        assert [each["id"] for each in noticing.all()] == [mail["id"]]

    def test_those_of_the_site_exist_for_operators_only(self, noticing: Noticing) -> None:
        made = noticing.subscribe(
            who=ADMIN, scope="site", resource_type="physical:host", below=2, waits_minutes=10
        )

        assert (made["project_id"], made["below"], made["waits_minutes"]) == (None, 2, 10)
        assert made["events"] == [each.value for each in NoticeType]
        assert noticing.all() == []
        assert [each["id"] for each in noticing.all(who=ADMIN)] == [made["id"]]
        assert [each["id"] for each in noticing.all(who=HOMELESS)] == [made["id"]]
        refusal(noticing.ask("GET", None, f"/{made['id']}"), 404)

    @pytest.mark.parametrize(
        ("keys", "problem"),
        [
            ({"below": 3}, "below: must be given together with resource_type"),
            ({"resource_type": "physical:host"}, "below: must be given together with resource_type"),
            ({"resource_type": "physical:boat", "below": 3}, "resource_type: physical:boat is not supported"),
            ({"below": 0}, "below"),
            ({"waits_minutes": 0}, "waits_minutes"),
        ],
    )
    def test_conditions_of_operators_are_checked(
        self, noticing: Noticing, keys: dict[str, Any], problem: str
    ) -> None:
        assert problem in noticing.refused(who=ADMIN, scope="site", **keys)


class TestChanging:
    def test_only_what_is_named_is_changed(self, noticing: Noticing) -> None:
        made = noticing.subscribe(lead_minutes=[5])
        made.pop("secret")
        noticing.wait(seconds=1)

        changed = noticing.change(made, events=["lease.ended"], enabled=False)

        assert changed["updated_at"] is not None
        assert changed == {
            **made,
            "events": ["lease.ended"],
            "enabled": False,
            "updated_at": changed["updated_at"],
        }
        assert noticing.show(made) == changed

    def test_null_restores_the_defaults_of_the_site(self, noticing: Noticing) -> None:
        made = noticing.subscribe(lead_minutes=[5], time_zone="Europe/Berlin", language="de")

        changed = noticing.change(made, lead_minutes=None, time_zone=None, language=None)

        assert (changed["lead_minutes"], changed["time_zone"], changed["language"]) == (
            [1440, 60],
            "UTC",
            "en",
        )

    def test_a_secret_is_replaced_and_shown_once(self, noticing: Noticing) -> None:
        made = noticing.subscribe()

        rotated = noticing.change(made, rotate_secret=True)

        assert rotated["secret"] != made["secret"]
        assert "secret" not in noticing.show(made)
        assert "secret" not in noticing.change(made, enabled=True)
        mail = noticing.subscribe(kind="mail")
        message = refusal(noticing.ask("PUT", {"rotate_secret": True}, f"/{mail['id']}"), 400)
        assert message == "rotate_secret: only webhooks have a secret"

    @pytest.mark.parametrize("keys", [{"language": "de"}, {"rotate_secret": True}], ids=str)
    def test_a_change_that_read_an_earlier_state_is_made_again_from_the_read(
        self, noticing: Noticing, monkeypatch: pytest.MonkeyPatch, keys: Json
    ) -> None:
        made = noticing.subscribe()
        with noticing.env.context.store.read() as transaction:
            outdated = [transaction.subscriptions.find(made["id"])]
        rotated = noticing.change(made, rotate_secret=True)
        find = SqlSubscriptions.find
        monkeypatch.setattr(
            SqlSubscriptions, "find", lambda self, each: outdated.pop() if outdated else find(self, each)
        )

        changed = noticing.change(made, **keys)

        with noticing.env.context.store.read() as transaction:
            stored = transaction.subscriptions.find(made["id"])
        assert stored is not None
        assert outdated == []
        assert rotated["secret"] in (stored.secret, stored.former_secret)
        assert stored.secret == changed.get("secret", rotated["secret"])

    @pytest.mark.parametrize(
        ("keys", "problem"),
        [
            ({"url": "https://10.0.0.1/"}, "url: address 10.0.0.1 is not allowed here"),
            ({"url": None}, "Missing parameter url"),
            ({"kind": "mail"}, "kind"),
            ({"scope": "site"}, "scope"),
            ({"enabled": None}, "enabled"),
            ({"events": ["lease.waits"]}, "events: lease.waits needs the scope site"),
        ],
    )
    def test_bad_changes_are_refused(self, noticing: Noticing, keys: dict[str, Any], problem: str) -> None:
        made = noticing.subscribe()
        before = noticing.env.snapshot()

        assert problem in refusal(noticing.ask("PUT", keys, f"/{made['id']}"), 400)
        assert noticing.env.snapshot() == before

    def test_a_deleted_one_is_gone(self, noticing: Noticing) -> None:
        made = noticing.subscribe()

        good(noticing.ask("DELETE", None, f"/{made['id']}"), 204)

        refusal(noticing.ask("DELETE", None, f"/{made['id']}"), 404)
        assert noticing.all() == []


class TestAddresses:
    def test_an_address_gets_nothing_before_it_is_confirmed(self, noticing: Noticing) -> None:
        made = noticing.subscribe(kind="mail", address="someone@example.org", events=["lease.created"])
        noticing.env.create(10, 20)
        noticing.env.work()

        (mailed,) = noticing.mail.received
        assert mailed.type == "subscription.confirm"
        assert (made["confirmed"], noticing.show(made)["confirmed"]) == (False, False)

        code = str(mailed.data["code"])
        confirmed = noticing.change(made, code=f" {code.upper()} ")
        noticing.env.create(30, 40)
        noticing.env.work()

        assert confirmed["confirmed"]
        assert noticing.mail.types == ["subscription.confirm", "lease.created"]
        assert noticing.change(made, code="anything")["confirmed"]

    def test_codes_cannot_be_tried_out(self, noticing: Noticing) -> None:
        made = noticing.subscribe(kind="mail", address="someone@example.org")
        noticing.env.work()
        code = noticing.mail.received[0].data["code"]
        path = f"/{made['id']}"

        for _ in range(5):
            message = refusal(noticing.ask("PUT", {"code": "0000"}, path), 400)
            assert message == "code: is not the code that was mailed to the address"

        assert "too many wrong codes" in refusal(noticing.ask("PUT", {"code": code}, path), 400)
        assert not noticing.show(made)["confirmed"]

    def test_a_stranger_is_mailed_one_code_a_day(self, noticing: Noticing) -> None:
        address = "stranger@example.org"
        made = noticing.subscribe(kind="mail", address=address)
        good(noticing.ask("DELETE", None, f"/{made['id']}"), 204)

        again = noticing.refused(409, kind="mail", url=None, address=address.upper())
        elsewhere = noticing.refused(409, who=STRANGER, kind="mail", url=None, address=address)
        assert "within the last 24 hours" in again
        assert "within the last 24 hours" in elsewhere

        noticing.wait(hours=25)
        noticing.subscribe(kind="mail", address=address)

    def test_a_project_has_ten_codes_mailed_a_day(self, noticing: Noticing) -> None:
        for number in range(10):
            made = noticing.subscribe(kind="mail", address=f"stranger{number}@example.org")
            good(noticing.ask("DELETE", None, f"/{made['id']}"), 204)

        message = noticing.refused(409, kind="mail", url=None, address="stranger10@example.org")
        assert message.startswith("Too many codes were mailed for this project")

    def test_another_address_must_be_confirmed_again(self, noticing: Noticing) -> None:
        made = noticing.subscribe(kind="mail", address="one@example.org")
        noticing.env.work()
        noticing.change(made, code=noticing.mail.received[0].data["code"])

        changed = noticing.change(made, address="two@example.org")
        own = noticing.change(made, address=None)

        assert (changed["confirmed"], own["confirmed"], own["address"]) == (False, True, None)


def test_policies_decide_who_may(noticing: Noticing) -> None:
    noticing.env.set_policy({"blazar:subscriptions:post": "!", "blazar:subscriptions:site": "@"})

    refusal(noticing.ask("POST", {"kind": "webhook", "url": URL}), 403)
    assert noticing.all() == []


def test_secrets_are_in_no_answer_but_the_first(noticing: Noticing) -> None:
    made = noticing.subscribe()
    env: HttpEnv = noticing.env

    listed = env.get("/subscriptions", who=LESSEE, headers=NEWER)

    assert made["secret"] not in listed.text
