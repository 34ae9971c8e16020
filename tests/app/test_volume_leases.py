"""Leases of capacity in storage pools, and the resulting volume types in Cinder."""

from __future__ import annotations

import pytest
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, good, refusal
from app.storage import FAST, SLOW, Storage, asked

from blazar.domain.errors import CloudNotFound, CloudRefused
from blazar.domain.quotas import amounts


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


class TestLeases:
    def test_the_project_has_a_pinned_type_and_exactly_its_room(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        lease = storage.create(10, 60, resource_properties='["==", "$media", "ssd"]', volume_name="scratch")
        env.pass_time(8)
        for name in [each.name for each in storage.types()]:
            with pytest.raises(CloudNotFound):
                env.cloud.create_volume("project", 1, name)

        env.pass_time(10)

        assert env.status(lease) == "ACTIVE"
        (made,) = storage.types()
        assert made.description == "scratch"
        assert env.cloud.create_volume("project", 40, made.name).pool == FAST
        with pytest.raises(CloudRefused):
            env.cloud.create_volume("project", 1, made.name)
        with pytest.raises(CloudNotFound):
            env.cloud.create_volume("elsewhere", 1, made.name)
        storage.end(lease)

    def test_a_start_takes_three_calls_for_each_pool_and_a_constant(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        names = [FAST, SLOW, *(f"block1@more#{number}" for number in range(5))]
        for each in names[2:]:
            env.cloud.add_storage_pool(each, 100)
        storage.register(*names)

        def count(pools: int) -> int:
            before = sum(env.cloud.calls.values())
            storage.create(amount=pools, gibibytes=10, affinity=False)
            return sum(env.cloud.calls.values()) - before

        one, six = count(1), count(6)

        assert six - one == 5 * 3
        assert one <= 3 + 6

    def test_a_refused_quota_of_one_pool_does_not_prevent_that_of_another(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        storage.register(FAST, SLOW)
        lease = storage.create(10, 60, amount=2, gibibytes=10, affinity=False)
        env.pass_time(9)
        first, second = storage.types()
        env.cloud.block_storage.add_type_access(first.id, "project")
        env.cloud.block_storage.set_quotas("project", {first.name: 90, second.name: 5})
        used = env.cloud.create_volume("project", 80, first.name)

        env.pass_time(11)

        assert env.status(lease) == "STARTING"
        assert storage.room() == [10, 90]
        env.cloud.block_storage.delete_volume(used.id)
        env.pass_time(13)
        assert (env.status(lease), storage.room()) == ("ACTIVE", [10, 10])

    def test_lessees_learn_the_names_of_their_types(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST)
        lease = storage.create()

        found = good(env.get(f"/leases/{lease['id']}/resources", who=LESSEE, headers=NEWER))

        assert storage.type_name() in str(found)

    @pytest.mark.parametrize(
        ("keys", "room"),
        [
            ({"gibibytes": 30, "amount": 3}, [90]),
            ({"gibibytes": 30, "amount": 3, "affinity": True}, [90]),
            ({"gibibytes": 30, "amount": 2, "affinity": False}, [30, 30]),
            ({"gibibytes": 60, "amount": 2}, [60, 60]),
            ({"gibibytes": 100, "amount": 2}, [100, 100]),
        ],
    )
    def test_parts_are_together_or_apart_as_asked(
        self, storage: Storage, keys: Json, room: list[int]
    ) -> None:
        storage.register(FAST, SLOW)
        lease = storage.create(**keys)

        assert storage.room() == room
        storage.end(lease)

    @pytest.mark.parametrize(
        "keys",
        [
            {"gibibytes": 101},
            {"gibibytes": 60, "amount": 2, "affinity": True},
            {"gibibytes": 1, "amount": 3, "affinity": False},
            {"gibibytes": 2**31 - 1, "amount": 2**31 - 1},
        ],
    )
    def test_a_shortage_is_refused(self, env: HttpEnv, storage: Storage, keys: Json) -> None:
        storage.register(FAST, SLOW)

        message = refusal(env.post("/leases", env.wish(asked=asked(**keys)), who=LESSEE, headers=NEWER), 409)

        assert "ot enough storage" in message

    def test_capacity_is_promised_once(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST)
        storage.create(10, 60, gibibytes=60)

        wish = env.wish(20, 30, asked=asked(gibibytes=41))
        refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)
        storage.create(20, 30, gibibytes=40)

    def test_a_lease_grows_and_shrinks_while_it_is_active(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST)
        lease = storage.create()
        env.cloud.create_volume("project", 20, storage.type_name())

        env.change(lease, reservation={"gibibytes": 90})
        env.work()
        assert storage.room() == [90]
        env.change(lease, reservation={"gibibytes": 25})
        env.work()
        assert storage.room() == [25]
        path, reservation = f"/leases/{lease['id']}", lease["reservations"][0]["id"]
        body = {"reservations": [{"id": reservation, "gibibytes": 19}]}
        assert "20 GiB are in use" in refusal(env.put(path, body, who=LESSEE), 409)
        body = {"reservations": [{"id": reservation, "gibibytes": 101}]}
        refusal(env.put(path, body, who=LESSEE, headers=NEWER), 409)
        env.work()
        assert storage.room() == [25]
        assert env.lease(lease["id"])["reservations"][0]["gibibytes"] == 25
        storage.end(lease)

    def test_what_was_given_back_is_free_for_others_at_once(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST)
        lease = storage.create(gibibytes=100)

        env.change(lease, reservation={"gibibytes": 30})

        storage.create("now", 30, gibibytes=70)
        assert storage.room() == [30, 70]

    @pytest.mark.parametrize("key", ["affinity", "resource_properties", "volume_name"])
    def test_other_keys_are_fixed_while_it_is_active(self, env: HttpEnv, storage: Storage, key: str) -> None:
        storage.register(FAST)
        lease = storage.create()
        value = {"affinity": True, "resource_properties": '["==", "$media", "ssd"]', "volume_name": "x"}[key]

        body = {"reservations": [{"id": lease["reservations"][0]["id"], key: value}]}

        assert key in refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 409)

    def test_the_catalogue_and_the_search_know_the_type(self, env: HttpEnv, storage: Storage) -> None:
        storage.register(FAST, SLOW)
        storage.create("now", 60, gibibytes=10)
        body = {
            "reservations": [asked(gibibytes=100, amount=2)],
            "earliest_start": env.date(5),
            "latest_end": env.date(300),
            "duration_minutes": 60,
        }

        catalogue = good(env.get("/catalogue", who=STRANGER, headers=NEWER))
        found = good(env.post("/availability/search", body, who=STRANGER, headers=NEWER))
        wish = env.wish(10, 50, asked=asked(gibibytes=100, amount=2))
        message = env.post("/leases", wish, who=STRANGER, headers=NEWER)

        assert "virtual:volume" in str(catalogue)
        assert found["slots"][0]["start_date"] == env.date(60)
        assert [each["summary"] for each in message.json["alternatives"]] != []


def test_quotas_count_parts_and_gibibytes(env: HttpEnv, storage: Storage) -> None:
    storage.register(FAST)
    storage.create(gibibytes=30, amount=2)

    with env.context.store.read() as transaction:
        reserved = transaction.quotas.reserved("project", env.clock.now())

    found = amounts(reserved, env.context.quota_units, env.clock.now())
    assert (found["reserved_volumes"], found["reserved_volumes:GIBIBYTES"]) == (2, 60)
