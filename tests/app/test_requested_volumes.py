"""Volumes that are created at the start of a storage lease, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good, refusal
from app.storage import FAST, SLOW, Storage, asked, make_storage

from blazar.plugins.volumes.settings import VolumeSettings
from blazar.ports.block_storage import Volume

DATA = {"size": 30, "name": "data"}
LOGS = {"size": "10", "name": "logs", "image": None}


@pytest.fixture
def storage(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> Storage:
    storage = make_storage(engine, tmp_path, VolumeSettings(acts_in_projects=True))
    storage.env.cloud.serve_project("project")
    storage.register(FAST, SLOW)
    return storage


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


def volumes(env: HttpEnv) -> list[Volume]:
    cinder = env.cloud.block_storage
    return [each for made in cinder.list_types() for each in cinder.list_volumes(made.id)]


def shown(env: HttpEnv, lease: Json) -> list[Json]:
    found: list[Json] = env.lease(lease["id"])["reservations"][0]["volumes"]
    return found


def make_image(env: HttpEnv, project_id: str) -> str:
    """Return an image of a server of a project."""
    env.cloud.add_hypervisor(f"node-{project_id}")
    server = env.cloud.boot_server("s", project_id, service_host=f"node-{project_id}")
    image_id = env.cloud.images.create_image(server.id, "image", {})
    env.cloud.images.set_image_owner(image_id, project_id)
    return image_id


class TestRequests:
    @pytest.mark.parametrize(
        ("value", "key"),
        [
            ("data", "volumes"),
            ({"size": 1, "name": "x"}, "volumes"),
            ([1], "volumes[0]"),
            ([{"name": "x"}], "volumes[0].size"),
            ([{"size": 0, "name": "x"}], "volumes[0].size"),
            ([{"size": -1, "name": "x"}], "volumes[0].size"),
            ([{"size": 1.5, "name": "x"}], "volumes[0].size"),
            ([{"size": 2**31, "name": "x"}], "volumes[0].size"),
            ([DATA, {"size": 1}], "volumes[1].name"),
            ([{"size": 1, "name": ""}], "volumes[0].name"),
            ([{"size": 1, "name": "a\u0000b"}], "volumes[0].name"),
            ([{"size": 1, "name": "x" * 256}], "volumes[0].name"),
            ([{"size": 1, "name": ["x"]}], "volumes[0].name"),
            ([{"size": 1, "name": "x", "image": "cirros"}], "volumes[0].image"),
            ([{"size": 1, "name": "x", "image": "../../v3"}], "volumes[0].image"),
            ([{"size": 1, "name": "x", "imageRef": None}], "volumes[0].imageRef"),
            ([{"size": 1, "name": "x"}] * 101, "volumes"),
            ([{"size": 41, "name": "x"}], "volumes"),
            ([DATA, DATA], "volumes"),
        ],
    )
    def test_a_bad_value_is_refused_with_its_place(self, env: HttpEnv, value: Any, key: str) -> None:
        wish = env.wish(asked=asked(volumes=value))

        message = refusal(env.post("/leases", wish, who=LESSEE), 400)

        assert key in message

    def test_they_are_refused_if_the_service_has_no_role(self, engine: sa.Engine, tmp_path: Path) -> None:
        storage = make_storage(engine, tmp_path)
        storage.register(FAST)
        lease = storage.create(10)

        wish = storage.env.wish(asked=asked(volumes=[DATA]))
        changes = [{"id": lease["reservations"][0]["id"], "volumes": [DATA]}]
        path = f"/leases/{lease['id']}"

        assert "acts_in_projects" in refusal(storage.env.post("/leases", wish, who=LESSEE), 400)
        assert "acts_in_projects" in refusal(
            storage.env.put(path, {"reservations": changes}, who=LESSEE), 400
        )

    def test_they_can_be_changed_before_the_start(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create(10, volumes=[DATA])

        env.change(lease, reservation={"volumes": [LOGS]})
        body = {"reservations": [{"id": lease["reservations"][0]["id"], "gibibytes": 9}]}
        assert "volumes" in refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 400)
        env.pass_time(11)

        assert [each.name for each in volumes(env)] == ["logs"]

    def test_they_cannot_be_changed_afterwards(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create(volumes=[DATA])
        body = {"reservations": [{"id": lease["reservations"][0]["id"], "volumes": [LOGS]}]}

        assert "volumes" in refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 409)

    def test_a_reservation_can_be_sent_back_as_it_is_shown(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create(volumes=[DATA])
        (reservation,) = env.lease(lease["id"])["reservations"]

        env.change(lease, reservation={"volumes": reservation["volumes"], "gibibytes": 50})

        assert env.lease(lease["id"])["reservations"][0]["gibibytes"] == 50

    @pytest.mark.parametrize(("sizes", "fewer"), [([20, 20], True), ([20, 20, 20], False)])
    def test_alternatives_to_a_refusal_have_room_for_them(
        self, env: HttpEnv, storage: Storage, sizes: list[int], fewer: bool
    ) -> None:
        storage.create("now", 60, gibibytes=70, amount=2)
        wanted = [{"size": each, "name": "x"} for each in sizes]
        wish = env.wish(asked=asked(gibibytes=20, amount=3, volumes=wanted))

        answer = env.post("/leases", wish, who=LESSEE, headers=NEWER)

        assert "ot enough" in refusal(answer, 409)
        alternatives = {each["kind"]: each["bodies"][0] for each in answer.json["alternatives"]}
        assert ("fewer" in alternatives) is fewer
        for body in alternatives.values():
            lease = good(env.post("/leases", body, who=LESSEE, headers=NEWER), 201)["lease"]
            env.delete(f"/leases/{lease['id']}", who=LESSEE)

    def test_parts_with_the_same_property_need_no_room_for_all_of_them(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        wanted = [{"size": 40, "name": "x"}] * 4
        wish = env.wish(asked=asked(gibibytes=40, amount=4, spread="media", volumes=wanted))
        (good(env.post("/leases", wish, who=LESSEE, headers=NEWER), 201))
        env.work()

        assert sorted(each.pool for each in volumes(env)) == [FAST, FAST, SLOW, SLOW]


class TestStart:
    def test_the_lessee_has_the_volumes_when_the_lease_is_active(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        image = make_image(env, "project")
        lease = storage.create(volumes=[DATA, {**LOGS, "image": image}])

        assert env.status(lease) == "ACTIVE"
        found = {each.name: each for each in volumes(env)}
        assert {name: (each.size, each.project_id) for name, each in found.items()} == {
            "data": (30, "project"),
            "logs": (10, "project"),
        }
        assert shown(env, lease) == [
            {**DATA, "image": None, "id": found["data"].id},
            {"size": 10, "name": "logs", "image": image, "id": found["logs"].id},
        ]
        used = good(env.get(f"/leases/{lease['id']}/resources", who=LESSEE, headers=NEWER))
        assert found["data"].id in str(used)
        storage.end(lease)
        assert volumes(env) == []

    def test_a_volume_is_created_once(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create(volumes=[DATA, LOGS])
        for each in volumes(env):
            env.cloud.block_storage.delete_volume(each.id)

        env.pass_time(5)
        env.change(lease, reservation={"gibibytes": 50})
        env.pass_time(30)

        assert volumes(env) == []

    def test_each_volume_is_in_a_pool_with_room_for_it(self, env: HttpEnv, storage: Storage) -> None:
        sizes = [20, 50, 30, 40]
        storage.create(
            gibibytes=70,
            amount=2,
            affinity=False,
            volumes=[{"size": each, "name": str(each)} for each in sizes],
        )

        found: dict[str, int] = {}
        for each in volumes(env):
            found[each.pool] = found.get(each.pool, 0) + each.size
        assert found == {FAST: 70, SLOW: 70}

    def test_volumes_are_only_created_at_the_start(self, env: HttpEnv, storage: Storage) -> None:
        storage.create(10, volumes=[DATA])

        env.pass_time(9)
        assert volumes(env) == []
        env.pass_time(10)
        assert len(volumes(env)) == 1


class TestRefusals:
    """The storage is what was promised: if Cinder refuses a volume, the lease starts without it."""

    def test_the_lease_waits_for_some_time_and_then_starts_without_the_volume(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        unknown = "11111111-2222-4333-8444-555555555555"
        lease = storage.create(volumes=[{**DATA, "image": unknown}, LOGS])

        assert env.status(lease) == "STARTING"
        shown_lease = good(env.get(f"/leases/{lease['id']}", who=LESSEE, headers=NEWER))["lease"]
        assert shown_lease["status_reason"] == "requested volumes cannot be created yet"
        assert [each.name for each in volumes(env)] == ["logs"]
        own = env.cloud.create_volume("project", 5, storage.type_name())
        env.pass_time(11)

        assert env.status(lease) == "ACTIVE"
        assert [each["id"] is None for each in shown(env, lease)] == [True, False]
        env.cloud.block_storage.delete_volume(own.id)
        env.pass_time(30)
        assert [each.name for each in volumes(env)] == ["logs"]
        storage.end(lease)

    def test_images_of_other_projects_are_not_copied(self, env: HttpEnv, storage: Storage) -> None:
        foreign = make_image(env, "elsewhere")

        storage.create(volumes=[{**DATA, "image": foreign}])

        assert volumes(env) == []

    def test_a_role_that_is_given_late_is_enough(self, engine: sa.Engine, tmp_path: Path) -> None:
        storage = make_storage(engine, tmp_path, VolumeSettings(acts_in_projects=True))
        storage.register(FAST)
        lease = storage.create(volumes=[DATA])
        assert storage.env.status(lease) == "STARTING"

        storage.env.cloud.serve_project("project")
        storage.env.pass_time(2)

        assert storage.env.status(lease) == "ACTIVE"
        assert len(volumes(storage.env)) == 1

    def test_managers_that_are_late_still_create_them(self, env: HttpEnv, storage: Storage) -> None:
        lease = env.create(10, 600, asked=asked(volumes=[DATA]))
        env.clock.set(env.clock.now().replace(hour=5))

        env.work()

        assert env.status(lease) == "ACTIVE"
        assert len(volumes(env)) == 1

    def test_a_lessee_who_marks_a_volume_harms_only_himself(self, env: HttpEnv, storage: Storage) -> None:
        storage.create(volumes=[DATA])
        (made,) = volumes(env)

        assert made.metadata["blazar:volume"] == "0"
        assert storage.room() == [40]
