"""The end of storage leases whose volumes are moved to an ordinary type, so that their data stay."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from app.http_env import LESSEE, HttpEnv, Json, refusal
from app.retaining import OBSTACLES, SHARED, find, reason, settle, snapshot, storage_that_retains, waits
from app.storage import FAST, Storage, asked, make_storage
from oslo_upgradecheck.upgradecheck import Code

from blazar.cmd.status import check_storage_pools


@pytest.fixture
def storage(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> Storage:
    return storage_that_retains(engine, tmp_path)


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


@pytest.fixture
def lease(storage: Storage) -> Json:
    return storage.create(gibibytes=100, end_action="retain")


class TestRequests:
    def test_the_end_action_is_in_the_answer_and_volumes_are_deleted_by_default(
        self, storage: Storage
    ) -> None:
        plain = storage.create(gibibytes=10)
        kept = storage.create(gibibytes=10, end_action="retain")

        found = [each["reservations"][0]["end_action"] for each in (plain, kept)]

        assert found == ["delete", "retain"]

    @pytest.mark.parametrize("value", ["burn", "", 1, True, ["retain"], {"retain": 1}])
    def test_other_values_are_refused(self, env: HttpEnv, value: Any) -> None:
        wish = env.wish(asked=asked(end_action=value))

        assert "end_action" in refusal(env.post("/leases", wish, who=LESSEE), 400)

    def test_an_action_that_the_operator_has_not_configured_is_refused(
        self, engine: sa.Engine, tmp_path: Path
    ) -> None:
        storage = make_storage(engine, tmp_path)
        storage.register(FAST)
        lease = storage.create()

        wish = storage.env.wish(asked=asked(end_action="retain"))
        changes = [{"id": lease["reservations"][0]["id"], "end_action": "retain"}]

        new = refusal(storage.env.post("/leases", wish, who=LESSEE), 400)
        change = refusal(
            storage.env.put(f"/leases/{lease['id']}", {"reservations": changes}, who=LESSEE), 400
        )
        assert "retain_volume_type" in new
        assert change == new
        assert storage.env.lease(lease["id"])["reservations"][0]["end_action"] == "delete"

    @pytest.mark.parametrize(("first", "last"), [("delete", "retain"), ("retain", "delete")])
    def test_it_can_be_changed_while_the_lease_is_active(
        self, env: HttpEnv, storage: Storage, first: str, last: str
    ) -> None:
        lease = storage.create(end_action=first)
        volume = env.cloud.create_volume("project", 10, storage.type_name())

        changed = env.change(lease, reservation={"end_action": last})

        assert changed["reservations"][0]["end_action"] == last
        assert env.status(lease) == "ACTIVE"
        storage.end(lease)
        assert (env.cloud.find_volume(volume.id) is not None) is (last == "retain")


class TestEnd:
    def test_volumes_are_moved_to_the_ordinary_type_and_detached(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        env.cloud.add_hypervisor("node")
        server = env.cloud.boot_server("s", "project", service_host="node")
        plain, attached = (env.cloud.create_volume("project", 10, storage.type_name()).id for _ in range(2))
        env.cloud.attach_volume(attached, server.id)

        storage.end(lease)

        for each in (find(env, plain), find(env, attached)):
            assert (each.type_name, each.pool, each.status) == ("standard", SHARED, "available")
        assert [each.id for each in env.cloud.servers.list_servers()] == [server.id]
        assert storage.create("now", 90, gibibytes=100)

    def test_a_server_that_was_booted_from_a_volume_keeps_it(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        server, volume = storage.boot()

        storage.end(lease)

        found = find(env, volume.id)
        assert (found.type_name, [each.server_id for each in found.attachments]) == ("standard", [server.id])
        assert [each.id for each in env.cloud.servers.list_servers()] == [server.id]

    def test_the_capacity_is_booked_until_the_moves_are_complete(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 100, storage.type_name())
        env.cloud.block_storage.move_time = timedelta(minutes=30)
        following = env.create(60, 200, asked=asked(gibibytes=100))

        env.pass_time(70)
        waits(env, lease)
        assert "are being moved" in reason(env, lease)
        assert env.status(following) == "STARTING"
        env.pass_time(100)

        assert env.status(lease) == "TERMINATED"
        assert env.status(following) == "ACTIVE"
        assert find(env, volume.id).type_name == "standard"

    def test_a_lease_that_is_deleted_retains_its_volumes_too(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())

        assert env.delete(f"/leases/{lease['id']}", who=LESSEE).status_code == 204
        env.work()

        assert find(env, volume.id).type_name == "standard"
        assert storage.types() == []


class TestObstacles:
    """A volume that cannot be moved is kept, and named."""

    @pytest.mark.parametrize("obstacle", list(OBSTACLES))
    def test_the_lease_waits_and_names_the_volume_until_the_obstacle_is_gone(
        self, env: HttpEnv, storage: Storage, lease: Json, obstacle: str
    ) -> None:
        stuck, free = (env.cloud.create_volume("project", 10, storage.type_name()).id for _ in range(2))
        env.pass_time(59)
        OBSTACLES[obstacle](env, stuck)
        if obstacle == "refused":
            env.cloud.block_storage.delete_volume(free)

        env.pass_time(400)

        waits(env, lease)
        assert f"{stuck} ({obstacle})" in reason(env, lease)
        assert find(env, stuck).pool == FAST
        if obstacle != "refused":
            assert find(env, free).type_name == "standard"
        settle(env, stuck)
        env.pass_time(412)
        assert env.status(lease) == "TERMINATED"
        assert find(env, stuck).type_name == "standard"

    def test_the_rounds_become_rare(self, env: HttpEnv, storage: Storage, lease: Json) -> None:
        stuck = env.cloud.create_volume("project", 10, storage.type_name()).id
        env.pass_time(59)
        snapshot(env, stuck)
        before = env.cloud.calls["block_storage.list_snapshots"]

        env.pass_time(60 * 25)

        assert env.cloud.calls["block_storage.list_snapshots"] - before < 250

    def test_the_owner_may_give_the_volume_up(self, env: HttpEnv, storage: Storage, lease: Json) -> None:
        stuck = env.cloud.create_volume("project", 10, storage.type_name()).id
        env.pass_time(59)
        snapshot(env, stuck)
        env.pass_time(100)
        waits(env, lease)

        env.cloud.block_storage.delete_volume(stuck)

        storage.end(lease, 112)

    def test_it_is_named_before_the_end(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create(end=120, gibibytes=100, end_action="retain")
        stuck = env.cloud.create_volume("project", 10, storage.type_name()).id
        snapshot(env, stuck)

        env.pass_time(61)

        failed = env.sent.event_types.index("lease.event.before_end_lease.error")
        reasons = env.sent.payloads[failed]["reasons"]
        text = (
            f"volumes that cannot be moved: {stuck} (has snapshots); they are deleted 168 hours after the end"
        )
        assert reasons == {lease["reservations"][0]["id"]: text}
        assert reason(env, lease) == text
        assert env.status(lease) == "ACTIVE"
        env.cloud.delete_snapshots(stuck)
        storage.end(lease, 121)
        assert find(env, stuck).type_name == "standard"

    def test_a_missing_ordinary_type_is_said_before_the_end_and_deletes_nothing(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        lease = storage.create(end=120, gibibytes=100, end_action="retain")
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        (standard,) = (each for each in env.cloud.block_storage.list_types() if each.is_public)
        env.cloud.block_storage.delete_type(standard.id)

        env.pass_time(61)
        assert "lease.event.before_end_lease.error" in env.sent.event_types
        env.pass_time(200)
        waits(env, lease)
        env.cloud.add_volume_type("standard", {"volume_backend_name": "shared"})
        env.pass_time(220)

        assert env.status(lease) == "TERMINATED"
        assert find(env, volume.id).type_name == "standard"

    def test_the_notice_does_not_extend_the_access(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create(end=120, gibibytes=100, end_action="retain")
        snapshot(env, env.cloud.create_volume("project", 10, storage.type_name()).id)

        env.pass_time(121)

        waits(env, lease)


class TestUpgradeCheck:
    @pytest.mark.parametrize(
        ("specs", "code"),
        [
            ({"volume_backend_name": "shared"}, Code.SUCCESS),
            ({}, Code.FAILURE),
            ({"volume_backend_name": "fast"}, Code.FAILURE),
            (None, Code.FAILURE),
        ],
    )
    def test_the_ordinary_type_must_exist_and_use_no_registered_pool(
        self, env: HttpEnv, storage: Storage, specs: Mapping[str, str] | None, code: Code
    ) -> None:
        (standard,) = (each for each in env.cloud.block_storage.list_types() if each.is_public)
        env.cloud.block_storage.delete_type(standard.id)
        if specs is not None:
            env.cloud.add_volume_type("standard", specs)

        found = check_storage_pools(env.context)

        assert found.code is code
        assert ("retain_volume_type" in str(found.details)) is (code is Code.FAILURE)
