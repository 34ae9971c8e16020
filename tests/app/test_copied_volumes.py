"""Backups and snapshots of the volumes of a storage lease before its end."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from app.http_env import LESSEE, HttpEnv, Json, events_of, refusal
from app.storage import FAST, Storage, asked, make_storage

from blazar.plugins.volumes.settings import VolumeSettings

END = 120
"""The end of leases; the notice is given an hour before."""


def make(engine: sa.Engine, folder: Path, **settings: Any) -> Storage:
    own = VolumeSettings(acts_in_projects=True, retain_volume_type="standard", **settings)
    storage = make_storage(engine, folder, own)
    storage.env.cloud.serve_project("project")
    storage.env.cloud.add_storage_pool("block1@shared#any", None)
    storage.env.cloud.add_volume_type("standard", {"volume_backend_name": "shared"})
    storage.register(FAST)
    return storage


@pytest.fixture
def storage(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> Storage:
    return make(engine, tmp_path, before_end_snapshot="backup")


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


@pytest.fixture
def lease(storage: Storage) -> Json:
    return storage.create(end=END, gibibytes=100, before_end="snapshot")


def notice(env: HttpEnv, lease: Json) -> str:
    return events_of(env.lease(lease["id"]))["before_end_lease"][1]


class TestRequests:
    @pytest.mark.parametrize("value", ["backup", 1, ["snapshot"]])
    def test_other_values_are_refused(self, env: HttpEnv, value: Any) -> None:
        assert "before_end" in refusal(
            env.post("/leases", env.wish(asked=asked(before_end=value)), who=LESSEE), 400
        )

    @pytest.mark.parametrize(
        ("settings", "option"),
        [
            ({"acts_in_projects": True}, "before_end_snapshot"),
            ({"before_end_snapshot": "backup"}, "acts_in_projects"),
        ],
    )
    def test_it_is_refused_if_the_operator_has_not_configured_it(
        self, engine: sa.Engine, tmp_path: Path, settings: Any, option: str
    ) -> None:
        storage = make_storage(engine, tmp_path, VolumeSettings(**settings))
        storage.register(FAST)

        message = refusal(
            storage.env.post("/leases", storage.env.wish(asked=asked(before_end="snapshot")), who=LESSEE), 400
        )

        assert option in message

    def test_snapshots_of_volumes_that_are_to_be_moved_are_refused(
        self, engine: sa.Engine, tmp_path: Path
    ) -> None:
        storage = make(engine, tmp_path, before_end_snapshot="snapshot")
        wish = storage.env.wish(asked=asked(before_end="snapshot", end_action="retain"))

        assert "before_end" in refusal(storage.env.post("/leases", wish, who=LESSEE), 400)

    def test_it_can_be_changed_while_the_lease_is_active(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create(end=END)
        volume = env.cloud.create_volume("project", 10, storage.type_name())

        env.change(lease, reservation={"before_end": "snapshot"})
        env.pass_time(61)

        assert len(env.cloud.block_storage.list_backups(volume.id)) == 1


class TestBackups:
    def test_each_volume_is_backed_up_once_before_the_end(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        one, two = (env.cloud.create_volume("project", 10, storage.type_name(), name=each) for each in "ab")
        env.cloud.attach_volume(two.id, None)
        env.pass_time(59)
        assert env.cloud.block_storage.list_backups(one.id) == ()

        env.pass_time(61)

        assert notice(env, lease) == "DONE"
        storage.end(lease, END + 1)
        for volume, name in ((one, "reserved_a"), (two, "reserved_b")):
            (backup,) = env.cloud.block_storage.list_backups(volume.id)
            assert (backup.name, backup.status) == (name, "available")
            assert env.cloud.find_volume(volume.id) is None

    def test_a_lease_that_is_extended_gets_new_ones(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.pass_time(61)

        env.change(lease, end_date=env.date(300))
        env.pass_time(241)

        assert len(env.cloud.block_storage.list_backups(volume.id)) == 2

    def test_the_end_waits_for_a_backup_for_some_time(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.block_storage.copy_time = timedelta(minutes=65)

        env.pass_time(END + 1)
        assert env.status(lease) == "TERMINATING"
        assert env.cloud.find_volume(volume.id) is not None
        storage.end(lease, END + 8)

        (backup,) = env.cloud.block_storage.list_backups(volume.id)
        assert backup.is_complete

    def test_a_backup_that_takes_too_long_delays_the_end_by_no_more_than_itself(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.block_storage.copy_time = timedelta(hours=4)

        env.pass_time(END + 90)
        assert env.status(lease) == "TERMINATING"
        (made,) = storage.types()
        assert env.cloud.block_storage.list_type_access(made.id) == frozenset()

        storage.end(lease, 61 + 4 * 60)

    def test_a_backup_that_fails_is_repeated_and_then_named(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.block_storage.copy_time = timedelta(minutes=30)
        for minutes in (61, 63, 65):
            env.pass_time(minutes)
            env.cloud.fail_backups(volume.id)

        env.pass_time(70)

        assert len(env.cloud.block_storage.list_backups(volume.id)) == 3
        assert notice(env, lease) == "ERROR"
        failed = env.sent.event_types.index("lease.event.before_end_lease.error")
        assert "3 copies failed" in str(env.sent.payloads[failed]["reasons"])

    def test_volumes_of_others_and_copies_with_a_similar_mark_do_not_matter(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        own = env.cloud.storage_in("project")
        own.create_backup(volume.id, "reserved_", f"blazar:{lease['reservations'][0]['id']}:soon")
        env.cloud.storage_in("project").create_snapshot(volume.id, "mine", "")

        env.pass_time(61)

        assert len(env.cloud.block_storage.list_backups(volume.id)) == 2
        assert notice(env, lease) == "DONE"

    def test_without_a_role_the_action_fails_and_the_lease_ends(
        self, engine: sa.Engine, tmp_path: Path
    ) -> None:
        own = VolumeSettings(acts_in_projects=True, before_end_snapshot="backup")
        storage = make_storage(engine, tmp_path, own)
        storage.register(FAST)
        lease = storage.create(end=END, before_end="snapshot")
        storage.env.cloud.create_volume("project", 10, storage.type_name())

        storage.env.pass_time(61)

        assert notice(storage.env, lease) == "ERROR"
        storage.end(lease, END + 75)

    def test_volumes_are_moved_after_their_backup(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create(end=END, before_end="snapshot", end_action="retain")
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.block_storage.copy_time = timedelta(minutes=65)

        storage.end(lease, END + 15)

        found = env.cloud.find_volume(volume.id)
        assert found is not None
        assert found.type_name == "standard"
        assert [each.is_complete for each in env.cloud.block_storage.list_backups(volume.id)] == [True]


class TestSnapshots:
    def test_each_volume_gets_a_snapshot_that_goes_with_it(self, engine: sa.Engine, tmp_path: Path) -> None:
        storage = make(engine, tmp_path, before_end_snapshot="snapshot")
        lease = storage.create(end=END, gibibytes=100, before_end="snapshot")
        volume = storage.env.cloud.create_volume("project", 10, storage.type_name(), name="a")

        storage.env.pass_time(61)

        (made,) = storage.env.cloud.block_storage.list_snapshots(volume.id)
        assert made.name == "reserved_a"
        assert notice(storage.env, lease) == "DONE"
        storage.end(lease, END + 1)

    def test_a_quota_that_is_used_up_makes_it_fail_after_the_end(
        self, engine: sa.Engine, tmp_path: Path
    ) -> None:
        storage = make(engine, tmp_path, before_end_snapshot="snapshot")
        lease = storage.create(end=END, gibibytes=10, before_end="snapshot")
        storage.env.cloud.create_volume("project", 10, storage.type_name())

        storage.env.pass_time(END + 12)

        assert notice(storage.env, lease) == "ERROR"
        storage.end(lease, END + 75)
