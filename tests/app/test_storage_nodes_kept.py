"""Whole storage pools: what becomes of volumes at the end, releases of certain pools, the plugin alone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.http_env import LESSEE, NEWER, PLUGINS, HttpEnv, Json, good, quiet_settings, refusal
from app.storage import FAST, SLOW, Storage, make_storage

from blazar.domain.errors import CloudNotFound
from blazar.plugins.volumes.check import check_pools
from blazar.plugins.volumes.settings import VolumeSettings

HOUR = 60
GRACE = 24


def whole(**keys: object) -> Json:
    return {"resource_type": "physical:storage", "min": 1, "max": 1, **keys}


def create(env: HttpEnv, start: float | str = "now", end: float = HOUR, **keys: object) -> Json:
    lease = env.create(start, end, asked=whole(**keys))
    env.work()
    return lease


class TestTheEnd:
    @pytest.fixture
    def storage(self, engine: sa.Engine, tmp_path: Path, failures: list[str]) -> Storage:
        own = VolumeSettings(freeze_grace_hours=GRACE, retain_volume_type="ordinary")
        storage = make_storage(engine, tmp_path, own)
        storage.register(FAST)
        storage.env.cloud.add_volume_type("ordinary", {"volume_backend_name": "slow"})
        return storage

    def test_frozen_volumes_keep_the_whole_pool_booked(self, storage: Storage) -> None:
        env = storage.env
        lease = create(env, end_action="freeze")
        volume = env.cloud.create_volume("project", 10, storage.type_name())

        env.pass_time(HOUR + 5)

        assert env.status(lease) == "TERMINATING"
        assert env.lease(lease["id"])["reservations"][0]["freeze_grace_hours"] == GRACE
        assert env.cloud.find_volume(volume.id) is not None
        with pytest.raises(CloudNotFound):
            env.cloud.create_volume("project", 1, storage.type_name())
        for asked in (whole(), {"resource_type": "virtual:volume", "gibibytes": 1}):
            wish = env.wish(HOUR + 10, HOUR + 20, asked=asked)
            refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)
        env.cloud.block_storage.delete_volume(volume.id)
        storage.end(lease, HOUR + 20)

    def test_retained_volumes_leave_the_pool(self, storage: Storage) -> None:
        env = storage.env
        env.cloud.block_storage.move_time = timedelta(seconds=5)
        lease = create(env, end_action="retain")
        volume = env.cloud.create_volume("project", 10, storage.type_name())

        storage.end(lease, HOUR + 5)

        after = env.cloud.find_volume(volume.id)
        assert after is not None
        assert (after.type_name, after.pool) == ("ordinary", SLOW)

    def test_a_pool_that_volumes_have_left_can_be_reserved_again(self, storage: Storage) -> None:
        env = storage.env
        lease = create(env, end_action="retain")
        env.cloud.create_volume("project", 10, storage.type_name())
        storage.end(lease, HOUR + 5)
        reported = {each.name: each.allocated for each in env.cloud.block_storage.list_pools()}
        assert reported[FAST] == 10

        problems = check_pools(env.context, "check")
        next_lease = create(env, HOUR + 10, 2 * HOUR + 10)
        env.pass_time(HOUR + 11)

        assert problems == {}
        assert env.status(next_lease) == "ACTIVE"
        storage.end(next_lease, 2 * HOUR + 11)


class TestReleases:
    def release(self, env: HttpEnv, lease: Json, pool: Json) -> Json:
        body = {
            "reservations": [{"id": lease["reservations"][0]["id"], "release": [pool["id"]]}],
        }
        answer: Json = good(env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER))
        changed: Json = answer["lease"]
        return changed

    def test_certain_pools_can_be_given_back(self, storage: Storage) -> None:
        env = storage.env
        fast, slow = storage.register(FAST, SLOW)
        lease = create(env, max=2)
        kept = next(each for each in storage.types() if each.extra_specs["pool_name"] == "disk")
        env.cloud.create_volume("project", 10, kept.name)

        changed = self.release(env, lease, fast)
        env.work()

        (reservation,) = changed["reservations"]
        assert (reservation["min"], reservation["max"]) == (1, 1)
        assert [each.id for each in storage.types()] == [kept.id]
        body = {"reservations": [{"id": reservation["id"], "release": [slow["id"]]}]}
        path = f"/leases/{lease['id']}"
        assert env.put(path, body, who=LESSEE, headers=NEWER).status_code in (400, 409)


class TestWithoutAnotherPool:
    def test_the_lease_does_not_start_and_says_why(self, storage: Storage) -> None:
        env = storage.env
        storage.register(FAST)
        lease = create(env, 10, HOUR)
        env.cloud.add_volume_type("others", {"volume_backend_name": "fast"})
        volume = env.cloud.create_volume("other", 5, "others")

        env.pass_time(20)

        assert env.status(lease) != "ACTIVE"
        for each in storage.types():
            assert env.cloud.block_storage.list_type_access(each.id) == frozenset()
        shown = good(env.get(f"/leases/{lease['id']}", who=LESSEE, headers=NEWER))["lease"]
        assert shown["status_reason"] == "a resource is in use outside of all reservations"
        with env.context.store.read() as transaction:
            journal = transaction.journal.list(lease_id=lease["id"])
        assert any("volumes of other users occupy 5 GiB of pool" in (each.reason or "") for each in journal)
        env.pass_time(HOUR + 1)
        assert storage.types() == []
        assert env.cloud.find_volume(volume.id) is not None


def test_the_plugin_can_be_enabled_alone(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> None:
    env = HttpEnv(engine, tmp_path, quiet_settings(), plugins=(*PLUGINS, "physical.storage.plugin"))
    env.cloud.add_storage_pool(FAST, 100)
    good(env.post("/storage-pools", {"name": FAST}, headers=NEWER), 201)

    lease = create(env)

    assert env.status(lease) == "ACTIVE"
    parts = env.wish(10, 20, asked={"resource_type": "virtual:volume", "gibibytes": 1})
    refusal(env.post("/leases", parts, who=LESSEE, headers=NEWER), 400)
