"""Registration of storage pools, and their comparison with Cinder."""

from __future__ import annotations

import pytest
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good, refusal
from app.storage import FAST, SLOW, Storage
from oslo_upgradecheck.upgradecheck import Code

from blazar.cmd.status import check_storage_pools
from blazar.plugins.volumes.check import check_pools


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


class TestRegistration:
    def test_a_pool_is_registered_with_what_cinder_tells_of_it(self, env: HttpEnv, storage: Storage) -> None:
        (pool,) = storage.register(FAST, rack="r1")

        assert pool == {
            "id": pool["id"],
            "name": FAST,
            "pool": FAST,
            "backend_name": "fast",
            "pool_name": "ssd",
            "media": "ssd",
            "rack": "r1",
            "vendor_name": "",
            "storage_protocol": "",
            "gibibytes": 100,
            "sole_use": True,
            "amounts": {"GIBIBYTES": 100},
            "reservable": True,
        }
        listed = good(env.get("/storage-pools", headers=NEWER))
        assert listed == {"storage_pools": [{**pool, "health_reason": None}]}
        assert env.get("/storage-pools").status_code == 404

    @pytest.mark.parametrize(
        ("body", "key"),
        [
            ({}, "name"),
            ({"name": "block1@none#x"}, "name"),
            ({"name": FAST, "gibibytes": 0}, "gibibytes"),
            ({"name": FAST, "gibibytes": 101}, "gibibytes"),
            ({"name": FAST, "gibibytes": "many"}, "gibibytes"),
            ({"name": FAST, "pool": "x"}, "pool"),
            ({"name": FAST, "a\nb": "x"}, "printable"),
            ({"name": FAST, "rack": ["r1"]}, "rack"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, env: HttpEnv, body: Json, key: str) -> None:
        assert key in refusal(env.post("/storage-pools", body, headers=NEWER), 400)

    def test_what_others_have_allocated_cannot_be_reserved(self, env: HttpEnv, storage: Storage) -> None:
        env.cloud.add_volume_type("ordinary", {"volume_backend_name": "fast"})
        env.cloud.create_volume("other", 30, "ordinary")

        body = {"name": FAST, "gibibytes": 80}
        message = refusal(env.post("/storage-pools", body, headers=NEWER), 409)
        (pool,) = storage.register(FAST)

        assert "30 of 100 GiB" in message
        assert pool["amounts"] == {"GIBIBYTES": 70}

    def test_a_pool_of_unknown_capacity_is_registered_with_a_size(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        env.cloud.add_storage_pool("block2@any#x", None)

        body = {"name": "block2@any#x"}
        assert "gibibytes" in refusal(env.post("/storage-pools", body, headers=NEWER), 400)
        (pool,) = storage.register("block2@any#x", gibibytes=7)
        assert pool["amounts"] == {"GIBIBYTES": 7}

    def test_a_pool_is_changed_and_removed_unless_it_is_reserved(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        (pool,) = storage.register(FAST, rack="r1")
        path = f"/storage-pools/{pool['id']}"

        changed = good(env.put(path, {"gibibytes": 50, "rack": None, "row": 2}, headers=NEWER))
        assert changed["storage_pool"]["amounts"] == {"GIBIBYTES": 50}
        assert "rack" not in changed["storage_pool"]
        assert changed["storage_pool"]["row"] == 2
        lease = storage.create()
        refusal(env.put(path, {"gibibytes": 60}, headers=NEWER), 409)
        refusal(env.delete(path, headers=NEWER), 409)
        storage.end(lease)
        assert env.delete(path, headers=NEWER).status_code == 204

    def test_registering_a_pool_twice_is_refused(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST)

        refusal(env.post("/storage-pools", {"name": FAST}, headers=NEWER), 409)

    def test_only_operators_register(self, env: HttpEnv) -> None:
        refusal(env.post("/storage-pools", {"name": FAST}, who=LESSEE, headers=NEWER), 403)


class TestUpgradeCheck:
    @pytest.mark.parametrize(
        ("specs", "is_open"),
        [
            ({}, True),
            ({"volume_backend_name": "fast"}, True),
            ({"pool_name": "ssd"}, True),
            ({"volume_backend_name": "fast", "pool_name": "other"}, False),
            ({"volume_backend_name": "shared"}, False),
        ],
    )
    def test_public_types_that_may_use_a_registered_pool_are_named(
        self, env: HttpEnv, storage: Storage, specs: dict[str, str], is_open: bool
    ) -> None:
        env.cloud.add_volume_type("__DEFAULT__", specs)
        assert check_storage_pools(env.context).code is Code.SUCCESS
        storage.register(FAST)
        storage.create()

        found = check_storage_pools(env.context)

        assert found.code is (Code.WARNING if is_open else Code.SUCCESS)
        assert ("__DEFAULT__" in str(found.details)) is is_open


class TestCheck:
    def reservable(self, env: HttpEnv) -> list[bool]:
        found = good(env.get("/storage-pools", headers=NEWER))["storage_pools"]
        return [each["reservable"] for each in found]

    def test_volumes_of_others_make_a_pool_fail_until_they_are_gone(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        storage.register(FAST)
        lease = storage.create(gibibytes=30)
        env.cloud.create_volume("project", 30, storage.type_name())
        assert check_pools(env.context, "test") == {}
        env.cloud.add_volume_type("ordinary", {"volume_backend_name": "fast"})
        volume = env.cloud.create_volume("other", 5, "ordinary")

        assert "5 GiB" in check_pools(env.context, "test")[FAST]
        assert self.reservable(env) == [False]
        env.work()
        assert env.status(lease) == "ACTIVE"
        env.cloud.block_storage.delete_volume(volume.id)

        assert check_pools(env.context, "test") == {}
        assert self.reservable(env) == [True]

    def test_a_pool_that_is_gone_or_smaller_has_failed(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        env.cloud.remove_storage_pool(FAST)
        env.cloud.add_storage_pool(SLOW, 60)

        found = check_pools(env.context, "test")

        assert "no pool" in found[FAST]
        assert "only 60 of 100" in found[SLOW]
        assert self.reservable(env) == [False, False]

    def test_a_lease_ahead_moves_to_another_pool(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        lease = storage.create(10, 60)
        env.cloud.remove_storage_pool(FAST)
        check_pools(env.context, "test")

        env.pass_time(11)

        assert env.status(lease) == "ACTIVE"
        assert [each.extra_specs["pool_name"] for each in storage.types()] == ["disk"]
