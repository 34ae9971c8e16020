"""Leases of whole storage pools, and their exclusion of leases of parts of them."""

from __future__ import annotations

import pytest
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, good, refusal
from app.storage import FAST, SLOW, Storage
from app.storage import asked as asked_parts

from blazar.domain.errors import CloudNotFound, CloudRefused
from blazar.domain.quotas import amounts
from blazar.plugins.volumes.check import check_pools

SSD, DISK = '["==", "$media", "ssd"]', '["==", "$media", "disk"]'


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


def whole(**keys: object) -> Json:
    return {"resource_type": "physical:storage", "min": 1, "max": 1, **keys}


def create(storage: Storage, start: float | str = "now", end: float = 60, **keys: object) -> Json:
    lease = storage.env.create(start, end, asked=whole(**keys))
    storage.env.work()
    return lease


def is_refused(env: HttpEnv, start: float, end: float, asked: Json) -> str:
    """Return the message with which a request is refused for lack of resources."""
    return refusal(env.post("/leases", env.wish(start, end, asked=asked), who=LESSEE, headers=NEWER), 409)


def put_stranger(env: HttpEnv, pool: str, size: int = 5) -> str:
    """Create a volume of another project in a pool; return its id."""
    backend = pool.partition("@")[2].partition("#")[0]
    name = f"others-{backend}"
    if all(each.name != name for each in env.cloud.block_storage.list_types()):
        env.cloud.add_volume_type(name, {"volume_backend_name": backend})
    return env.cloud.create_volume("other", size, name).id


class TestLeases:
    def test_the_project_has_the_whole_pool_and_nobody_else_any_of_it(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        storage.register(FAST, SLOW)
        lease = create(storage, 10, 60, resource_properties=SSD, volume_name="scratch")
        env.pass_time(8)
        for name in [each.name for each in storage.types()]:
            with pytest.raises(CloudNotFound):
                env.cloud.create_volume("project", 1, name)

        env.pass_time(10)

        assert env.status(lease) == "ACTIVE"
        (made,) = storage.types()
        assert (made.description, storage.room()) == ("scratch", [100])
        assert env.cloud.create_volume("project", 100, made.name).pool == FAST
        with pytest.raises(CloudRefused):
            env.cloud.create_volume("project", 1, made.name)
        with pytest.raises(CloudNotFound):
            env.cloud.create_volume("elsewhere", 1, made.name)
        refusal(env.get(f"/leases/{lease['id']}/resources", who=STRANGER, headers=NEWER), 403)
        storage.end(lease)

    @pytest.mark.parametrize(
        ("keys", "rooms"),
        [
            ({}, 1),
            ({"min": 1, "max": 2}, 2),
            ({"min": "2", "max": "2"}, 2),
            ({"min": 1, "max": 5}, 2),
            ({"min": 1, "max": 5, "resource_properties": DISK}, 1),
            ({"min": 1, "max": 5, "resource_properties": '[">=", "$gibibytes", "100"]'}, 2),
        ],
    )
    def test_as_many_pools_as_are_available_up_to_the_maximum(
        self, storage: Storage, keys: Json, rooms: int
    ) -> None:
        storage.register(FAST, SLOW)

        lease = create(storage, **keys)

        assert storage.room() == [100] * rooms
        storage.end(lease)

    @pytest.mark.parametrize(
        "keys",
        [
            {"min": 3, "max": 3},
            {"min": 2, "max": 2, "resource_properties": SSD},
            {"resource_properties": '[">", "$gibibytes", "100"]'},
        ],
    )
    def test_a_shortage_is_refused(self, env: HttpEnv, storage: Storage, keys: Json) -> None:
        storage.register(FAST, SLOW)

        assert "Not enough storage nodes" in is_refused(env, 10, 60, whole(**keys))

    def test_the_quota_is_the_registered_capacity(self, storage: Storage) -> None:
        storage.register(FAST, gibibytes=70, sole_use=True)

        lease = create(storage)

        assert storage.room() == [70]
        storage.end(lease)

    def test_lessees_learn_the_names_of_their_types(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST)
        lease = create(storage)

        found = good(env.get(f"/leases/{lease['id']}/resources", who=LESSEE, headers=NEWER))

        assert storage.type_name() in str(found)

    def test_everything_goes_at_the_end(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST)
        lease = create(storage)
        volume = env.cloud.create_volume("project", 20, storage.type_name())
        env.cloud.snapshot_volume(volume.id)

        storage.end(lease)

        assert env.cloud.find_volume(volume.id) is None

    def test_the_catalogue_and_the_search_know_the_type(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        create(storage)
        body = {
            "reservations": [whole(min=2, max=2)],
            "earliest_start": env.date(5),
            "latest_end": env.date(300),
            "duration_minutes": 60,
        }

        catalogue = good(env.get("/catalogue", who=STRANGER, headers=NEWER))
        found = good(env.post("/availability/search", body, who=STRANGER, headers=NEWER))
        wish = env.wish(10, 50, asked=whole(min=2, max=2))
        message = env.post("/leases", wish, who=STRANGER, headers=NEWER)

        assert "physical:storage" in str(catalogue)
        assert found["slots"][0]["start_date"] == env.date(60)
        assert [each["summary"] for each in message.json["alternatives"]] != []


class TestBothKinds:
    """A pool that is booked as a whole has no parts for others in the same time, and the other way round."""

    @pytest.mark.parametrize(("start", "end"), [(10, 60), (0.5, 11), (59, 90), (30, 40), (5, 90)])
    def test_a_part_excludes_the_whole(
        self, env: HttpEnv, storage: Storage, start: float, end: float
    ) -> None:
        storage.register(FAST)
        storage.create(10, 60, gibibytes=1)

        assert "Not enough storage nodes" in is_refused(env, start, end, whole())

    @pytest.mark.parametrize(("start", "end"), [(10, 60), (0.5, 11), (59, 90), (30, 40), (5, 90)])
    def test_the_whole_excludes_a_part(
        self, env: HttpEnv, storage: Storage, start: float, end: float
    ) -> None:
        storage.register(FAST)
        create(storage, 10, 60)

        assert "Not enough storage available" in is_refused(env, start, end, asked_parts(gibibytes=1))

    def test_the_rest_of_a_pool_of_which_less_is_registered_excludes_it_too(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        storage.register(FAST, gibibytes=70, sole_use=True)
        create(storage, 10, 60)

        assert "Not enough storage available" in is_refused(env, 20, 30, asked_parts(gibibytes=1))

    def test_at_other_times_and_in_other_pools_both_are_granted(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        storage.create(10, 60, gibibytes=100, resource_properties=SSD)
        first = create(storage, 10, 60, resource_properties=DISK)
        create(storage, 60, 90, resource_properties=SSD)
        storage.create(60, 90, gibibytes=100, resource_properties=DISK)

        env.pass_time(11)
        assert (env.status(first), storage.room()) == ("ACTIVE", [100, 100])
        env.pass_time(61)
        assert (env.status(first), storage.room()) == ("TERMINATED", [100, 100])

    def test_neither_gets_a_pool_of_the_other_in_one_lease(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST)
        wish = env.wish(10, 60, asked=whole())

        for others in ([asked_parts(gibibytes=1)], [whole()]):
            body = {**wish, "reservations": [*wish["reservations"], *others]}
            refusal(env.post("/leases", body, who=LESSEE, headers=NEWER), 409)

    def test_quotas_count_whole_pools_apart_from_parts(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        create(storage, resource_properties=SSD)
        storage.create(resource_properties=DISK)

        with env.context.store.read() as transaction:
            reserved = transaction.quotas.reserved("project", env.clock.now())

        found = amounts(reserved, env.context.quota_units, env.clock.now())
        assert (found["reserved_storage_nodes"], found["reserved_volumes"]) == (1, 1)
        assert found["storage_node_hours_ahead"] == 1


class TestOthersInThePool:
    def test_sole_use_is_refused_at_registration(self, env: HttpEnv, storage: Storage) -> None:
        volume = put_stranger(env, FAST)

        body = {"name": FAST, "gibibytes": 50, "sole_use": True}
        message = refusal(env.post("/storage-pools", body, headers=NEWER), 409)

        assert "sole_use: volumes of other users occupy 5 GiB" in message
        env.cloud.block_storage.delete_volume(volume)
        assert good(env.post("/storage-pools", body, headers=NEWER), 201)["storage_pool"]["sole_use"] is True

    def test_without_sole_use_only_parts_can_be_reserved(self, env: HttpEnv, storage: Storage) -> None:
        put_stranger(env, FAST)
        (pool,) = storage.register(FAST)

        assert (pool["gibibytes"], pool["sole_use"]) == (95, False)
        assert "Not enough storage nodes" in is_refused(env, 10, 60, whole())
        assert "Not enough storage nodes" in is_refused(
            env, 10, 60, whole(resource_properties='["==", "$sole_use", "false"]')
        )
        storage.create(10, 60, gibibytes=95)

    def test_sole_use_can_be_changed(self, env: HttpEnv, storage: Storage) -> None:
        (pool,) = storage.register(FAST)
        path = f"/storage-pools/{pool['id']}"

        def change(**body: object) -> tuple[object, object]:
            found = good(env.put(path, body, headers=NEWER))["storage_pool"]
            return found["gibibytes"], found["sole_use"]

        assert change(rack="r1") == (100, True)
        assert change(gibibytes=80) == (80, False)
        assert change(gibibytes=100) == (100, False)
        assert change(sole_use=True) == (100, True)
        assert change(gibibytes=60, sole_use=True) == (60, True)
        assert change(sole_use=False) == (60, False)
        put_stranger(env, FAST)
        assert "sole_use" in refusal(env.put(path, {"sole_use": True}, headers=NEWER), 409)
        for bad in ("maybe", 1, None):
            assert "sole_use" in refusal(env.put(path, {"sole_use": bad}, headers=NEWER), 400)
        assert change(gibibytes=61) == (61, False)

    def test_another_pool_is_chosen_at_the_start(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        lease = create(storage, 10, 60)
        put_stranger(env, pool_of(env, lease))
        taken = pool_of(env, lease)

        env.pass_time(11)
        assert env.status(lease) == "STARTING"
        for each in storage.types():
            assert env.cloud.block_storage.list_type_access(each.id) == frozenset()
        env.pass_time(14)

        assert env.status(lease) == "ACTIVE"
        assert pool_of(env, lease) != taken
        assert env.cloud.create_volume("project", 100, storage.type_name()).pool == pool_of(env, lease)
        storage.end(lease)

    def test_volumes_of_others_delay_the_start_until_they_are_gone(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        storage.register(FAST)
        lease = create(storage, 10, 60)
        volume = put_stranger(env, FAST)
        env.pass_time(11)
        assert env.status(lease) == "STARTING"

        env.cloud.block_storage.delete_volume(volume)
        env.pass_time(12)

        assert env.status(lease) == "ACTIVE"

    def test_a_lessee_keeps_his_pool_if_others_come_later(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        lease = create(storage)
        (made,) = storage.types()
        pool = env.cloud.create_volume("project", 10, made.name).pool
        put_stranger(env, pool or "")
        env.cloud.block_storage.remove_type_access(made.id, "project")

        check_pools(env.context, "check")
        env.pass_time(15)

        assert (env.status(lease), pool_of(env, lease)) == ("ACTIVE", pool)
        assert env.cloud.block_storage.list_type_access(made.id) == {"project"}

    def test_a_pending_lease_is_healed_by_the_check(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW, gibibytes=60, sole_use=True)
        lease = create(storage, 30, 60)
        before = pool_of(env, lease)
        put_stranger(env, before)

        problems = check_pools(env.context, "check")
        env.pass_time(1)

        assert problems == {before: f"volumes of other users occupy 5 GiB of pool {before}"}
        assert pool_of(env, lease) != before


class TestChanges:
    def test_a_lease_grows_and_gives_back_pools_without_volumes(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        lease = create(storage, resource_properties="")
        first = pool_of(env, lease)

        env.change(lease, reservation={"min": 2, "max": 2})
        env.work()
        assert storage.room() == [100, 100]
        other = next(each for each in storage.types() if each.extra_specs["volume_backend_name"] not in first)
        env.cloud.create_volume("project", 10, other.name)
        env.change(lease, reservation={"min": 1, "max": 1})
        env.work()

        assert [each.id for each in storage.types()] == [other.id]
        assert pool_of(env, lease) != first
        storage.create("now", 30, gibibytes=100)
        storage.end(lease)

    def test_pools_with_volumes_are_not_given_back(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        lease = create(storage, min=2, max=2)
        for each in storage.types():
            env.cloud.create_volume("project", 1, each.name)

        body = {"reservations": [{"id": lease["reservations"][0]["id"], "min": 1, "max": 1}]}
        message = refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 409)

        assert "max: 1 is less than the 2 pools that have volumes" in message
        env.work()
        assert storage.room() == [100, 100]

    @pytest.mark.parametrize("key", ["resource_properties", "volume_name"])
    def test_other_keys_are_fixed_while_it_is_active(self, env: HttpEnv, storage: Storage, key: str) -> None:
        storage.register(FAST)
        lease = create(storage)
        value = {"resource_properties": SSD, "volume_name": "x"}[key]

        body = {"reservations": [{"id": lease["reservations"][0]["id"], key: value}]}

        assert key in refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 409)


def pool_of(env: HttpEnv, lease: Json) -> str:
    """Return the name of the only pool that a lease holds."""
    allocations = good(env.get("/storage-pools/allocations", headers=NEWER))["allocations"]
    holding = {
        each["resource_id"]
        for each in allocations
        if any(one["lease_id"] == lease["id"] for one in each["reservations"])
    }
    pools = good(env.get("/storage-pools", headers=NEWER))["storage_pools"]
    (found,) = (each["name"] for each in pools if each["id"] in holding)
    return str(found)
