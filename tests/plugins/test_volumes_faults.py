"""The start and the end of a storage reservation that its lessee uses, with a fault at every step in turn."""

from __future__ import annotations

from datetime import timedelta

from plugins.every_step import EveryStep
from plugins.harnesses import VolumesHarness

from blazar.booking.context import Plugin
from blazar.domain.lease import LeaseStatus
from blazar.plugins.volumes.plugin import Volumes
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.plugins.volumes.spec import VolumeSpec
from blazar_plugin_testing import CloudEnv
from blazar_plugin_testing.plugin_env import PluginEnv
from blazar_plugin_testing.service_env import LESSEE

PROJECT = LESSEE.project_id or ""
EVERYTHING = {"gibibytes": 100, "amount": 3, "affinity": False}


class UsedHarness(VolumesHarness):
    """The pools, and a host for servers that have volumes."""

    def set_up(self, env: CloudEnv) -> None:
        super().set_up(env)
        env.cloud.add_storage_pool("block9@shared#any", None)
        env.cloud.add_volume_type("standard", {"volume_backend_name": "shared"})
        env.cloud.serve_project(PROJECT)
        env.cloud.add_hypervisor("node")
        # The flavor of servers exists from the first server on.
        env.cloud.boot_server("other", "other", service_host="node")

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return Volumes(
            VolumeSettings(retain_volume_type="standard", freeze_grace_hours=1, acts_in_projects=True)
        )


def use(env: PluginEnv) -> None:
    """Create volumes in every state that keeps Cinder from deleting them."""
    cloud = env.cloud
    cloud.block_storage.deletion_time = timedelta(seconds=5)
    first, second, third = (each for each in cloud.block_storage.list_types() if not each.is_public)
    plain, attached, root, elsewhere = (cloud.create_volume(PROJECT, 10, first.name).id for _ in range(4))
    cloud.snapshot_volume(plain)
    cloud.attach_volume(attached, cloud.boot_server("kept", PROJECT, service_host="node").id)
    cloud.attach_volume(root, cloud.boot_server("gone", PROJECT, service_host="node").id, is_root=True)
    cloud.attach_volume(elsewhere, None)
    given, failed = (cloud.create_volume(PROJECT, 10, second.name).id for _ in range(2))
    cloud.begin_transfer(given)
    cloud.set_volume_status(failed, "error_deleting")
    grouped = cloud.create_volume(PROJECT, 10, third.name).id
    cloud.group_volumes("group", frozenset({third.id}), (grouped,))


def comes(env: PluginEnv) -> None:
    """The lessee has access exactly while the lease runs."""
    with env.trial():
        lease = env.create("a", 1, 3, EVERYTHING)
        env.at(1.5)
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    names = [each.name for each in env.cloud.block_storage.list_types() if not each.is_public]
    quotas = env.cloud.block_storage.get_quotas(PROJECT, names)
    assert sorted(each.limit for each in quotas.values()) == [100, 100, 100]
    env.at(3.5)


def goes(env: PluginEnv) -> None:
    """Whatever state the volumes are in, all of them go, and no other lease starts before."""
    lease = env.create("a", 1, 3, EVERYTHING)
    following = env.create("b", 3, 6, EVERYTHING)
    env.at(1.5)
    with env.faults.exempt():
        use(env)
    with env.trial():
        env.at(3.5)
    assert env.lease(lease).status is LeaseStatus.TERMINATED
    assert env.lease(following).status is LeaseStatus.ACTIVE
    with env.faults.exempt():
        assert [each.name for each in env.cloud.servers.list_servers()] == ["other", "kept"]
        assert env.cloud.block_storage.list_groups() == ()
    env.at(6.5)


def is_retained(env: PluginEnv) -> None:
    """The data of every volume stay, in whatever state it is, and no other lease starts before."""
    lease = env.create("a", 1, 3, {**EVERYTHING, "end_action": "retain"})
    following = env.create("b", 3, 6, EVERYTHING)
    env.at(1.5)
    with env.faults.exempt():
        use(env)
        storage = env.cloud.block_storage
        storage.move_time = timedelta(seconds=5)
        before = [each for made in storage.list_types() for each in storage.list_volumes(made.id)]
        for each in before:
            env.cloud.delete_snapshots(each.id)
            if each.has_failed:
                env.cloud.set_volume_status(each.id, "available")
    with env.trial():
        env.at(4)
    assert env.lease(lease).status is LeaseStatus.TERMINATED
    assert env.lease(following).status is LeaseStatus.ACTIVE
    with env.faults.exempt():
        after = [env.cloud.find_volume(each.id) for each in before]
        assert [each and each.type_name for each in after] == ["standard"] * len(before)
        for server in env.cloud.servers.list_servers():
            if server.name == "gone":
                env.cloud.servers.delete_server(server.id)
        for each in before:
            storage.delete_volume(each.id)
    env.at(6.5)


def is_frozen(env: PluginEnv) -> None:
    """Nothing is deleted during the grace period, and all of it afterwards."""
    lease = env.create("a", 1, 2, {**EVERYTHING, "end_action": "freeze"})
    env.at(1.5)
    with env.faults.exempt():
        use(env)
        storage = env.cloud.block_storage
        before = [each for made in storage.list_types() for each in storage.list_volumes(made.id)]
    with env.trial():
        env.run_until(2.5)
    with env.faults.exempt():
        assert all(env.cloud.find_volume(each.id) for each in before)
    assert env.lease(lease).status is LeaseStatus.TERMINATING
    with env.trial():
        env.at(3.5)
    assert env.lease(lease).status is LeaseStatus.TERMINATED


def is_filled(env: PluginEnv) -> None:
    """Each requested volume is created once, in a pool with room for it."""
    volumes = [{"size": size, "name": f"volume-{size}"} for size in (30, 60, 90, 40)]
    with env.trial():
        lease = env.create("a", 1, 3, {**EVERYTHING, "volumes": volumes})
        env.at(1.5)
    with env.faults.exempt():
        storage = env.cloud.block_storage
        found = [each for made in storage.list_types() for each in storage.list_volumes(made.id)]
        assert sorted(each.size for each in found) == [30, 40, 60, 90]
    (reservation,) = env.lease(lease).reservations
    assert isinstance(reservation.spec, VolumeSpec)
    assert {*(reservation.spec.volume_ids or ())} == {each.id for each in found}
    env.at(3.5)


STORIES = {
    "comes": comes,
    "goes": goes,
    "is-retained": is_retained,
    "is-frozen": is_frozen,
    "is-filled": is_filled,
}


class TestEveryStep(EveryStep):
    harness_type = UsedHarness
    stories = STORIES
