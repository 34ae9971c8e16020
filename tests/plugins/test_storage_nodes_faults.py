"""Whole storage pools that a lessee uses, or in which others are, with a fault at every step in turn."""

from __future__ import annotations

from plugins.every_step import EveryStep
from plugins.harnesses import POOLS, StorageNodesHarness

from blazar.domain.lease import LeaseStatus
from blazar_plugin_testing import CloudEnv
from blazar_plugin_testing.plugin_env import PluginEnv
from blazar_plugin_testing.service_env import LESSEE

PROJECT = LESSEE.project_id or ""


class SharedHarness(StorageNodesHarness):
    """The pools, and a type with which others can use the first one."""

    def set_up(self, env: CloudEnv) -> None:
        super().set_up(env)
        env.cloud.add_volume_type("others", {"volume_backend_name": "fast0"})


def rooms(env: PluginEnv) -> dict[str, str]:
    """Return the pools to which private types are pinned, by the names of the types."""
    types = env.cloud.block_storage.list_types()
    return {each.name: each.extra_specs["volume_backend_name"] for each in types if each.name != "others"}


def goes(env: PluginEnv) -> None:
    """All volumes go before the next lease, of whatever kind, has the pools."""
    lease = env.create("a", 1, 3, {"min": 3, "max": 3})
    following = env.create("b", 3, 6, {"min": 3, "max": 3})
    env.at(1.5)
    with env.faults.exempt():
        for name in rooms(env):
            env.cloud.snapshot_volume(env.cloud.create_volume(PROJECT, 50, name).id)
    with env.trial():
        env.at(3.5)
    assert env.lease(lease).status is LeaseStatus.TERMINATED
    assert env.lease(following).status is LeaseStatus.ACTIVE
    with env.faults.exempt():
        pools = env.cloud.block_storage.list_pools()
        assert [each.allocated for each in pools if each.name in POOLS] == [0, 0, 0]
    env.at(6.5)


def is_replaced(env: PluginEnv) -> None:
    """A pool in which others are is replaced at the start, and their volume stays."""
    lease = env.create("a", 1, 3, {"min": 2, "max": 2})
    with env.faults.exempt():
        volume = env.cloud.create_volume("stranger", 5, "others")
    with env.trial():
        env.at(1.5)
    assert env.lease(lease).status is LeaseStatus.ACTIVE
    with env.faults.exempt():
        assert sorted(rooms(env).values()) == ["fast1", "fast2"]
        env.cloud.block_storage.delete_volume(volume.id)
    env.at(3.5)


STORIES = {"goes": goes, "is-replaced": is_replaced}


class TestEveryStep(EveryStep):
    harness_type = SharedHarness
    stories = STORIES
