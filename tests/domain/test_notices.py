"""When notices are repeated, when reminders are due, and who gets what."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOUR, MINUTE, at

from blazar.domain.mail_addresses import domain_of
from blazar.domain.notices import OF_SITE, Notice, NoticeType, due_lead, pause_after
from blazar.domain.subscriptions import ChannelKind, Scope, Subscription

LEADS = (24 * HOUR, HOUR)


def make_subscription(**keys: object) -> Subscription:
    fields: dict[str, object] = {
        "id": "s1",
        "scope": Scope.PROJECT,
        "project_id": "project",
        "user_id": "user",
        "kind": ChannelKind.WEBHOOK,
        "types": frozenset(NoticeType) - OF_SITE,
        "created_at": at(0),
        **keys,
    }
    return Subscription(**fields)  # type: ignore[arg-type]


NOTICE = Notice(
    type=NoticeType.STARTED, lease_id="lease", project_id="project", user_id="user", data={}, at=at(1)
)


class TestPauses:
    def test_they_double_up_to_the_longest(self) -> None:
        pauses = [pause_after(attempts, HOUR, 1) for attempts in range(1, 12)]

        assert pauses[:3] == [timedelta(seconds=10), timedelta(seconds=20), timedelta(seconds=40)]
        assert pauses[-1] == HOUR
        assert pause_after(10**6, HOUR, 1) == HOUR

    @given(st.integers(1, 100), st.floats(0, 1))
    def test_chance_shortens_them_by_at_most_a_half(self, attempts: int, share: float) -> None:
        longest = pause_after(attempts, HOUR, 1)

        assert longest / 2 <= pause_after(attempts, HOUR, share) <= longest


class TestReminders:
    @pytest.mark.parametrize(
        ("now", "lead"),
        [
            (at(0), None),
            (at(100) - 24 * HOUR - MINUTE, None),
            (at(100) - 24 * HOUR, 24 * HOUR),
            (at(100) - 2 * HOUR, 24 * HOUR),
            (at(100) - HOUR, HOUR),
            (at(100) - MINUTE, HOUR),
            (at(100), None),
            (at(101), None),
        ],
    )
    def test_the_shortest_lead_time_that_has_come_is_due(self, now: object, lead: object) -> None:
        assert due_lead(at(100), LEADS, at(0), now) == lead  # type: ignore[arg-type]

    def test_a_lead_time_that_is_longer_than_the_lease_counts_for_nothing(self) -> None:
        assert due_lead(at(12), LEADS, at(10), at(10)) is None
        assert due_lead(at(12), LEADS, at(10), at(11)) == HOUR
        assert due_lead(at(12), (), at(10), at(11)) is None


class TestCoverage:
    @pytest.mark.parametrize(
        ("keys", "is_covered"),
        [
            ({}, True),
            ({"types": frozenset({NoticeType.ENDED})}, False),
            ({"is_enabled": False}, False),
            ({"code": "1234"}, False),
            ({"project_id": "other"}, False),
            ({"scope": Scope.OWN}, True),
            ({"scope": Scope.OWN, "user_id": "other"}, False),
            ({"scope": Scope.OWN, "project_id": "other"}, False),
            ({"scope": Scope.LEASE, "lease_id": "lease"}, True),
            ({"scope": Scope.LEASE, "lease_id": "lease", "project_id": "other"}, False),
            ({"scope": Scope.LEASE, "lease_id": "other"}, False),
            ({"scope": Scope.SITE, "project_id": None}, True),
        ],
    )
    def test_a_subscription_covers_the_notices_of_its_scope(
        self, keys: dict[str, object], is_covered: bool
    ) -> None:
        assert make_subscription(**keys).covers(NOTICE) is is_covered

    def test_a_lease_without_a_project_is_in_no_project(self) -> None:
        notice = replace(NOTICE, project_id=None, user_id=None)

        assert not make_subscription().covers(notice)
        assert not make_subscription(scope=Scope.OWN).covers(notice)

    def test_the_former_key_signs_for_some_time(self) -> None:
        rotated = make_subscription(secret="new", former_secret="old", former_until=at(5))

        assert rotated.keys_at(at(4)) == ("new", "old")
        assert rotated.keys_at(at(5)) == ("new",)

    def test_its_text_has_neither_secret_nor_target(self) -> None:
        shown = repr(make_subscription(secret="whsec_abc", target="https://hooks.example.org/key"))

        assert "whsec" not in shown
        assert "hooks" not in shown

    def test_what_only_the_service_made_has_the_configured_types(self) -> None:
        types = frozenset({NoticeType.ENDED})
        made, changed = (
            make_subscription(is_default=True),
            make_subscription(is_default=True, updated_at=at(1)),
        )

        assert made.as_configured(types).types == types
        assert changed.as_configured(types) == changed
        assert make_subscription().as_configured(types) == make_subscription()


@pytest.mark.parametrize(
    ("address", "domain"),
    [
        ("a@example.org", "example.org"),
        ("a.b+c=d'e@Mail.Example.ORG", "mail.example.org"),
        ("a@localhost", "localhost"),
        ("", None),
        ("a", None),
        ("@example.org", None),
        ("a@", None),
        ("a@@example.org", None),
        ("a b@example.org", None),
        ("a@example.org,b@example.org", None),
        ("a@example.org\nBcc: b@example.org", None),
        ("a@example.org\r\n", None),
        ("<a@example.org>", None),
        ('"a b"@example.org', None),
        (".a@example.org", None),
        ("a..b@example.org", None),
        ("a@-example.org", None),
        ("a@[127.0.0.1]", None),
        ("ä@example.org", None),
        ("a" * 65 + "@example.org", None),
        ("a@" + "b." * 130 + "org", None),
    ],
)
def test_only_one_plain_address_is_an_address(address: str, domain: str | None) -> None:
    assert domain_of(address) == domain
