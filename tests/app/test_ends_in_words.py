"""The end of a lease in the words of its resource types, as lessees read it before it comes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.conftest import EnvWith
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good, quiet_settings
from app.storage import FAST, asked, make_storage
from app.subscribing import make_noticing, noticing_settings

from blazar.booking.at_end import at_end_view, end_texts_of
from blazar.domain.formats import API
from blazar.domain.lease import Lease
from blazar.plugins.end_texts import NEUTRAL, render_hours
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.reconcile.periodic.tasks import CHECK_NOTICES

DELETED = "The servers on the reserved hosts are deleted, with their local disks."
SAVED = "A snapshot of each of your servers on the reserved hosts is taken; the images stay in your project."


@pytest.fixture
def host(env: HttpEnv) -> str:
    return env.register("h1")[0]


def ends(env: HttpEnv, lease: Json) -> list[tuple[str, str]]:
    """Return text and time of what a lessee reads about the end of a lease with one reservation."""
    shown = good(env.get(f"/leases/{lease['id']}", who=LESSEE, headers=NEWER))["lease"]
    (reservation,) = shown["reservations"]
    return [(each["text"], each["time"]) for each in reservation["at_end"]]


def catalogue(env: HttpEnv) -> dict[str, list[Json]]:
    found = good(env.get("/catalogue", who=LESSEE, headers=NEWER))["catalogue"]
    return {each["resource_type"]: each["end_texts"] for each in found["resource_types"]}


def preview(env: HttpEnv, wish: Json) -> list[str]:
    answer = env.post("/leases?dry_run=true", wish, who=LESSEE, headers=NEWER)
    (reservation,) = good(answer)["preview"]["reservations"]
    return [each["text"] for each in reservation["at_end"]]


@pytest.mark.usefixtures("host")
class TestHosts:
    def test_servers_are_deleted(self, env: HttpEnv) -> None:
        lease = env.create(10, 200)

        assert ends(env, lease) == [(DELETED, env.shown(200))]

    def test_a_snapshot_comes_first_at_its_time(self, env: HttpEnv) -> None:
        lease = env.create(10, 200, before_end="snapshot")

        assert ends(env, lease) == [(SAVED, env.shown(140)), (DELETED, env.shown(200))]

    def test_a_lease_without_the_event_has_no_snapshot(self, env_with: EnvWith) -> None:
        settings = quiet_settings()
        env = env_with(replace(settings, leases=replace(settings.leases, before_end_lead=timedelta(0))))
        env.register("h1")

        lease = env.create(10, 200, before_end="snapshot")

        assert ends(env, lease) == [(DELETED, env.shown(200))]

    def test_the_default_is_that_of_the_site(self, env_with: EnvWith) -> None:
        env = env_with(quiet_settings().with_own(HostSettings(before_end="snapshot")))
        env.register("h1")

        lease, without = env.create(10, 200), env.create(210, 400, before_end="")

        assert [text for text, _ in ends(env, lease)] == [SAVED, DELETED]
        assert [text for text, _ in ends(env, without)] == [DELETED]
        assert ("default", SAVED) in [
            (each["value"], each["text"]) for each in catalogue(env)["physical:host"]
        ]

    def test_a_dry_run_tells_it_too(self, env: HttpEnv) -> None:
        assert preview(env, env.wish(10, 200, before_end="snapshot")) == [SAVED, DELETED]

    def test_after_the_end_there_is_nothing_to_tell(self, env: HttpEnv) -> None:
        lease = env.create("now", 60)
        env.pass_time(61)

        assert env.status(lease) == "TERMINATED"
        assert ends(env, lease) == []

    def test_the_catalogue_lists_each_action(self, env: HttpEnv) -> None:
        assert catalogue(env)["physical:host"] == [
            {"key": "before_end", "value": "snapshot", "text": SAVED, "before_end": True},
            {"key": None, "value": None, "text": DELETED, "before_end": False},
        ]
        assert all(catalogue(env).values())


class TestStorage:
    @pytest.mark.parametrize(
        ("keys", "words"),
        [
            ({}, ["deleted with their snapshots, and so are servers"]),
            ({"end_action": "retain"}, ["moved to volume type standard", "7 days after the end are deleted"]),
            ({"end_action": "freeze"}, ["kept for 36 hours without access"]),
            ({"before_end": "snapshot"}, ["gets a backup, which stays", "are detached and deleted"]),
        ],
    )
    def test_each_action_has_its_words(
        self, engine: sa.Engine, tmp_path: Path, keys: Json, words: list[str]
    ) -> None:
        own = VolumeSettings(
            retain_volume_type="standard",
            freeze_grace_hours=36,
            before_end_snapshot="backup",
            acts_in_projects=True,
        )
        storage = make_storage(engine, tmp_path, own)
        storage.register(FAST)

        found = " ".join(preview(storage.env, storage.env.wish(10, 200, asked=asked(**keys))))

        assert all(each in found for each in words), found
        listed = [(each["key"], each["value"]) for each in catalogue(storage.env)["physical:storage"]]
        assert listed == [
            ("before_end", "snapshot"),
            ("end_action", "delete"),
            ("end_action", "retain"),
            ("end_action", "freeze"),
        ]

    def test_an_action_that_is_not_offered_is_not_listed(self, engine: sa.Engine, tmp_path: Path) -> None:
        env = make_storage(engine, tmp_path).env

        (only,) = catalogue(env)["virtual:volume"]

        assert (only["key"], only["value"]) == ("end_action", "delete")

    def test_snapshots_that_go_with_their_volumes_are_not_promised(
        self, engine: sa.Engine, tmp_path: Path
    ) -> None:
        storage = make_storage(
            engine, tmp_path, VolumeSettings(acts_in_projects=True, before_end_snapshot="snapshot")
        )
        storage.register(FAST)

        first, _ = preview(storage.env, storage.env.wish(10, 200, asked=asked(before_end="snapshot")))

        assert first.endswith("gets a snapshot, which is deleted with the volume.")


class TestOtherTypes:
    def test_a_type_that_declares_nothing_has_a_neutral_sentence(self, env: HttpEnv, host: str) -> None:
        lease = env.create(10, 200)
        with env.context.store.read() as transaction:
            found = transaction.leases.find(lease["id"])
        assert isinstance(found, Lease)

        # The type is not enabled here.
        (view,) = at_end_view(found.reservations[0], found, {}, API.date)

        assert view == {"text": NEUTRAL.text, "time": env.shown(200)}
        assert end_texts_of(object()) == (NEUTRAL,)  # type: ignore[arg-type]


class TestReminders:
    def test_the_reminder_of_the_end_says_what_happens(self, env_with: EnvWith) -> None:
        noticing = make_noticing(env_with(noticing_settings()))
        with noticing.env.context.store.begin() as transaction:
            transaction.work.schedule([CHECK_NOTICES], noticing.env.clock.now())
            transaction.commit()
        noticing.subscribe(events=["lease.ends_soon"], lead_minutes=[30])
        lease = noticing.env.create("now", 100, before_end="snapshot")
        noticing.env.pass_time(75)

        (told,) = noticing.webhooks.received

        assert told.data["at_end"] == [
            {
                "reservation_id": lease["reservations"][0]["id"],
                "resource_type": "physical:host",
                "text": text,
                "time": noticing.env.shown(minutes),
            }
            for text, minutes in ((SAVED, 40), (DELETED, 100))
        ]


@pytest.mark.parametrize(
    ("hours", "text"), [(1, "1 hour"), (36, "36 hours"), (24, "1 day"), (168, "7 days"), (169, "169 hours")]
)
def test_hours_are_told_in_days_if_they_are_full(hours: int, text: str) -> None:
    assert render_hours(timedelta(hours=hours)) == text
