"""Lessees who try to keep what they had reserved. The lease ends, and capacity is free only when it is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from app.http_env import LESSEE, NEWER, HttpEnv, Json, refusal
from app.storage import FAST, SLOW, Storage, asked

from blazar.reconcile.sweep import sweep


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


def sweep_twice(env: HttpEnv) -> tuple[str, ...]:
    """Return what the second of two sweeps, which finds the leftovers again, has removed."""
    sweep(env.context, "manager")
    env.clock.advance(env.settings.reconciler.sweep_interval)
    return sweep(env.context, "manager").removed


class TestAttacks:
    """Whatever the lessee does, the lease ends, and its capacity is free only when it really is."""

    @pytest.fixture
    def lease(self, storage: Storage) -> Json:
        storage.register(FAST)
        return storage.create(gibibytes=100)

    def test_a_volume_is_renamed_snapshotted_and_failed(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        one, two = (env.cloud.create_volume("project", 10, storage.type_name()).id for _ in range(2))
        env.cloud.rename_volume(one, "mine for ever")
        env.cloud.snapshot_volume(one)
        env.cloud.set_volume_status(two, "error_deleting")

        storage.end(lease)

        assert env.cloud.find_volume(one) is None
        assert env.cloud.find_volume(two) is None

    @pytest.mark.parametrize("seconds", [0, 30])
    def test_an_attached_volume_is_detached_and_its_servers_stay(
        self, env: HttpEnv, storage: Storage, lease: Json, seconds: int
    ) -> None:
        """A volume that is attached twice is detached from its servers one after the other."""
        env.cloud.servers.detachment_time = timedelta(seconds=seconds)
        env.cloud.add_hypervisor("node")
        servers = [env.cloud.boot_server(name, "project", service_host="node").id for name in "ab"]
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        for each in servers:
            env.cloud.attach_volume(volume.id, each)

        storage.end(lease, minutes=63)

        assert [each.id for each in env.cloud.servers.list_servers()] == servers
        assert env.cloud.find_volume(volume.id) is None

    def test_a_suspended_server_does_not_keep_a_volume(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        env.cloud.add_hypervisor("node")
        server = env.cloud.boot_server("s", "project", service_host="node")
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.attach_volume(volume.id, server.id)
        env.cloud.suspend_server(server.id)

        storage.end(lease)

        assert not env.cloud.is_suspended(server.id)

    def test_a_server_that_was_booted_from_the_volume_goes_with_it(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        storage.boot()

        storage.end(lease)

        assert env.cloud.servers.list_servers() == ()

    def test_an_attachment_that_nova_does_not_know_is_ended(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.attach_volume(volume.id, None)

        storage.end(lease)

    @pytest.mark.parametrize("status", ["reserved", "attaching", "detaching"])
    def test_a_volume_that_is_reserved_for_a_server_for_ever_is_deleted(
        self, env: HttpEnv, storage: Storage, lease: Json, status: str
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.set_volume_status(volume.id, status)

        storage.end(lease)

        assert env.cloud.find_volume(volume.id) is None

    def test_a_transfer_in_the_last_minute_is_cancelled(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.pass_time(59)
        env.cloud.begin_transfer(volume.id)

        storage.end(lease)

        assert env.cloud.block_storage.list_transfers() == {}

    def test_volumes_leave_their_group_and_groups_of_the_type_alone_are_deleted(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        (made,) = storage.types()
        other = env.cloud.add_volume_type("other", {"volume_backend_name": "slow"})
        volume = env.cloud.create_volume("project", 10, made.name)
        env.cloud.group_volumes("own", frozenset({made.id}), (volume.id,))
        foreign = env.cloud.group_volumes("foreign", frozenset({other.id}), ())

        storage.end(lease)

        assert [each.id for each in env.cloud.block_storage.list_groups()] == [foreign.id]

    def test_a_group_snapshot_keeps_neither_the_volume_nor_the_group(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        (made,) = storage.types()
        one, two = (env.cloud.create_volume("project", 10, made.name).id for _ in range(2))
        group = env.cloud.group_volumes("own", frozenset({made.id}), (one, two))
        env.cloud.snapshot_group(group.id)
        env.cloud.block_storage.leave_group(group.id, [one])

        storage.end(lease)

        assert env.cloud.block_storage.list_group_snapshots() == ()
        assert env.cloud.block_storage.list_groups() == ()

    def test_a_group_snapshot_without_volumes_does_not_keep_the_type(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        (made,) = storage.types()
        group = env.cloud.group_volumes("own", frozenset({made.id}), ())
        env.cloud.snapshot_group(group.id)

        storage.end(lease)

    def test_a_group_with_another_type_does_not_delay_the_end(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        (made,) = storage.types()
        other = env.cloud.add_volume_type("other", {"volume_backend_name": "slow"})
        volume = env.cloud.create_volume("project", 10, made.name)
        group = env.cloud.group_volumes("mixed", frozenset({made.id, other.id}), (volume.id,))
        next_lease = env.create(60, 90, asked=asked(gibibytes=100))

        env.pass_time(70)

        assert (env.status(lease), env.status(next_lease)) == ("TERMINATED", "ACTIVE")
        assert env.cloud.block_storage.list_type_access(made.id) == frozenset()
        assert group in env.cloud.block_storage.list_groups()

    def test_the_sweep_deletes_a_type_when_its_last_group_is_gone(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        (made,) = storage.types()
        other = env.cloud.add_volume_type("other", {"volume_backend_name": "slow"})
        group = env.cloud.group_volumes("mixed", frozenset({made.id, other.id}), ())
        env.pass_time(70)
        kept = sweep_twice(env)

        env.cloud.block_storage.delete_group(group.id)

        assert kept == ()
        assert sweep(env.context, "manager").removed == (f"volumetype:{made.id}",)
        assert made not in env.cloud.block_storage.list_types()

    def test_the_sweep_leaves_group_snapshots_of_other_volumes_alone(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        (made,) = storage.types()
        other = env.cloud.add_volume_type("other", {"volume_backend_name": "slow"})
        ordinary = env.cloud.create_volume("project", 10, "other")
        group = env.cloud.group_volumes("mixed", frozenset({made.id, other.id}), (ordinary.id,))
        env.pass_time(70)
        kept = env.cloud.snapshot_group(group.id)

        sweep_twice(env)

        assert [each.id for each in env.cloud.block_storage.list_group_snapshots()] == [kept]

    def test_a_volume_that_takes_long_to_be_deleted_keeps_the_capacity(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.block_storage.deletion_time = timedelta(minutes=5)
        next_lease = env.create(60, 90, asked=asked(gibibytes=100))

        env.pass_time(62)
        assert env.status(lease) == "TERMINATING"
        assert env.status(next_lease) == "STARTING"
        env.pass_time(67)

        assert env.status(lease) == "TERMINATED"
        assert env.status(next_lease) == "ACTIVE"
        assert storage.room() == [100]

    def test_a_volume_that_was_moved_out_of_the_pool_stays(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        ordinary = env.cloud.add_volume_type("ordinary", {"volume_backend_name": "slow"})
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.block_storage.retype_volume(volume.id, ordinary.id)

        storage.end(lease)

        found = env.cloud.find_volume(volume.id)
        assert found is not None
        assert found.pool == SLOW

    def test_a_move_in_the_last_minute_is_awaited(self, env: HttpEnv, storage: Storage, lease: Json) -> None:
        ordinary = env.cloud.add_volume_type("ordinary", {"volume_backend_name": "slow"})
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.block_storage.move_time = timedelta(minutes=5)
        env.pass_time(59)
        env.cloud.block_storage.retype_volume(volume.id, ordinary.id)

        env.pass_time(62)
        assert env.status(lease) == "TERMINATING"
        wish = env.wish("now", 90, asked=asked(gibibytes=100))
        assert "ot enough" in refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)

        storage.end(lease, 66)
        found = env.cloud.find_volume(volume.id)
        assert found is not None
        assert found.pool == SLOW

    def test_a_backup_in_the_last_minute_is_awaited_and_stays(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.serve_project("project")
        env.cloud.block_storage.copy_time = timedelta(minutes=5)
        env.pass_time(59)
        env.cloud.storage_in("project").create_backup(volume.id, "mine", "")

        storage.end(lease, 66)

        (backup,) = env.cloud.block_storage.list_backups(volume.id)
        assert backup.is_complete

    def test_the_lessee_may_delete_everything(self, env: HttpEnv, storage: Storage, lease: Json) -> None:
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.cloud.block_storage.delete_volume(volume.id)
        (made,) = storage.types()
        env.cloud.block_storage.delete_type(made.id)

        storage.end(lease)

    def test_cinder_may_be_gone_for_a_while(self, env: HttpEnv, storage: Storage, lease: Json) -> None:
        env.cloud.create_volume("project", 10, storage.type_name())

        with env.failing("block_storage.*"):
            env.pass_time(62)
            assert env.status(lease) == "TERMINATING"

        storage.end(lease, 70)
