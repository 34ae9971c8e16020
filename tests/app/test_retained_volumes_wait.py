"""The time after which volumes that cannot be moved are deleted, so that the lease ends."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.http_env import HttpEnv, Json
from app.retaining import OBSTACLES, SHARED, find, reason, settle, snapshot, storage_that_retains, waits
from app.storage import FAST, Storage

WAIT_HOURS = 5


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


@pytest.fixture
def lease(storage: Storage) -> Json:
    return storage.create(gibibytes=100, end_action="retain")


class TestTheEndOfTheWait:
    """A lessee cannot keep a pool with volumes that cannot be moved."""

    @pytest.fixture
    def storage(self, engine: sa.Engine, tmp_path: Path, failures: list[str]) -> Storage:
        return storage_that_retains(engine, tmp_path, retain_wait_hours=WAIT_HOURS)

    def test_the_answer_has_the_time(self, storage: Storage) -> None:
        retained, plain = (
            storage.create(gibibytes=10, end_action=each, retain_wait_hours=9999)["reservations"][0]
            for each in ("retain", "delete")
        )

        assert (retained["retain_wait_hours"], plain["retain_wait_hours"]) == (WAIT_HOURS, None)

    @pytest.mark.parametrize("obstacle", list(OBSTACLES))
    def test_volumes_with_obstacles_are_deleted_and_the_lease_ends(
        self, env: HttpEnv, storage: Storage, lease: Json, obstacle: str
    ) -> None:
        stuck = env.cloud.create_volume("project", 10, storage.type_name()).id
        env.pass_time(59)
        OBSTACLES[obstacle](env, stuck)

        env.pass_time(60 + 60 * WAIT_HOURS - 1)
        waits(env, lease)
        assert f"{stuck} ({obstacle}); they are deleted at 2031-01-01 06:00 UTC" in reason(env, lease)
        storage.end(lease, 60 + 60 * WAIT_HOURS + 2)

        assert env.cloud.find_volume(stuck) is None
        assert storage.create(60 * WAIT_HOURS + 90, 60 * WAIT_HOURS + 120, gibibytes=100)

    def test_a_server_that_was_booted_from_such_a_volume_goes_with_it(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        _, volume = storage.boot()
        snapshot(env, volume.id)

        storage.end(lease, 60 + 60 * WAIT_HOURS + 2)

        assert env.cloud.servers.list_servers() == ()

    @pytest.mark.parametrize("minutes", [0, 3])
    def test_a_stopped_server_does_not_keep_the_volume_that_it_was_booted_from(
        self, env: HttpEnv, storage: Storage, lease: Json, minutes: int
    ) -> None:
        """Cinder agrees to the move of the volume; then Nova does not swap it, and nothing has changed."""
        env.cloud.block_storage.move_time = timedelta(minutes=minutes)
        server, volume = storage.boot()
        env.cloud.stop_server(server.id)

        env.pass_time(60 + 60 * WAIT_HOURS - 1)
        waits(env, lease)
        assert find(env, volume.id).pool == FAST
        storage.end(lease, 60 + 60 * WAIT_HOURS + 15)

        assert env.cloud.servers.list_servers() == ()
        assert env.cloud.find_volume(volume.id) is None

    @pytest.mark.parametrize("status", ["creating", "maintenance", "uploading", "backing-up"])
    def test_a_volume_that_stays_in_a_status_is_named_and_deleted(
        self, env: HttpEnv, storage: Storage, lease: Json, status: str
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.pass_time(59)
        env.cloud.set_volume_status(volume.id, status)

        env.pass_time(60 + 60 * WAIT_HOURS - 1)
        waits(env, lease)
        assert f"{volume.id} (is busy); they are deleted at 2031-01-01 06:00 UTC" in reason(env, lease)
        storage.end(lease, 60 + 60 * WAIT_HOURS + 2)

        assert env.cloud.find_volume(volume.id) is None

    def test_a_group_snapshot_is_an_obstacle_until_the_wait_is_over(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        (made,) = storage.types()
        volume = env.cloud.create_volume("project", 10, made.name)
        group = env.cloud.group_volumes("own", frozenset({made.id}), (volume.id,))
        env.cloud.snapshot_group(group.id)

        env.pass_time(60 + 60 * WAIT_HOURS - 1)
        waits(env, lease)
        assert f"{volume.id} (has snapshots); they are deleted" in reason(env, lease)
        storage.end(lease, 60 + 60 * WAIT_HOURS + 2)

        assert env.cloud.block_storage.list_group_snapshots() == ()

    def test_a_volume_that_is_being_moved_is_not_deleted(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.block_storage.move_time = timedelta(hours=WAIT_HOURS + 2)

        env.pass_time(60 + 60 * (WAIT_HOURS + 1))
        waits(env, lease)
        storage.end(lease, 60 + 60 * (WAIT_HOURS + 3))

        assert find(env, volume.id).type_name == "standard"

    def test_nothing_is_deleted_while_the_ordinary_type_is_missing(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        snapshot(env, volume.id)
        busy = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.set_volume_status(busy.id, "creating")
        (standard,) = (each for each in env.cloud.block_storage.list_types() if each.name == "standard")
        env.cloud.block_storage.delete_type(standard.id)

        env.pass_time(60 + 60 * (WAIT_HOURS + 2))

        waits(env, lease)
        assert find(env, volume.id).pool == FAST
        assert find(env, busy.id).pool == FAST

    def test_the_wait_begins_when_the_ordinary_type_is_back(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        server, root = storage.boot()
        stuck = env.cloud.create_volume("project", 10, storage.type_name())
        snapshot(env, stuck.id)
        (standard,) = (each for each in env.cloud.block_storage.list_types() if each.name == "standard")
        env.cloud.block_storage.delete_type(standard.id)
        env.pass_time(60 + 60 * (WAIT_HOURS + 2))

        env.cloud.add_volume_type("standard", dict(standard.extra_specs))
        env.pass_time(60 + 60 * (WAIT_HOURS + 3))

        assert env.cloud.servers.list_servers() == (server,)
        assert find(env, root.id).pool == SHARED
        assert find(env, stuck.id).pool == FAST
        storage.end(lease, 60 + 60 * (2 * WAIT_HOURS + 3))
        assert env.cloud.find_volume(stuck.id) is None

    def test_a_change_of_the_option_does_not_change_leases(self, storage: Storage, lease: Json) -> None:
        assert lease["reservations"][0]["retain_wait_hours"] == WAIT_HOURS
        changed = storage.env.change(lease, reservation={"end_action": "delete"})
        assert changed["reservations"][0]["retain_wait_hours"] is None


def test_without_a_limit_volumes_are_kept_until_the_obstacle_is_gone(
    engine: sa.Engine, tmp_path: Path, failures: list[str]
) -> None:
    storage = storage_that_retains(engine, tmp_path, retain_wait_hours=0)
    lease = storage.create(gibibytes=100, end_action="retain")
    stuck = storage.env.cloud.create_volume("project", 10, storage.type_name()).id
    snapshot(storage.env, stuck)

    storage.env.pass_time(60 * 24 * 8)

    assert storage.env.status(lease) == "TERMINATING"
    assert find(storage.env, stuck).pool == FAST
    assert reason(storage.env, lease) == f"volumes that cannot be moved: {stuck} (has snapshots)"
    assert lease["reservations"][0]["retain_wait_hours"] is None
    settle(storage.env, stuck)
    storage.end(lease, 60 * 24 * 8 + 12)
