"""A lease whose plugin is no longer enabled is shown, renamed and deleted; its type cannot be reserved."""

from __future__ import annotations

import pytest
from app.slots import instances
from app.world import World, lease_of, refusal

from blazar.manager.build import build_context
from blazar_plugin_testing.service_env import Silent

pytestmark = pytest.mark.usefixtures("hosts")


def disable(world: World, resource_type: str) -> None:
    """Restart the service without the plugin of a resource type."""
    plugins = {key: each for key, each in world.context.plugins.items() if key != resource_type}
    world.restart(build_context(world.engine, world.clock, world.cloud, world.settings, plugins, Silent()))


def test_the_stored_spec_is_shown(world: World) -> None:
    lease = world.create(60, 120)
    other = world.create(60, 120, asked=instances())

    disable(world, "physical:host")

    assert world.lease(lease["id"]) == lease
    listed = {each["id"]: each for each in world.get("/leases").json["leases"]}
    assert listed == {each["id"]: each for each in (lease, other)}
    assert "not supported" in refusal(world.post("/leases", world.wish(200, 300)), 400)


def test_it_can_be_renamed_and_deleted(world: World) -> None:
    lease = world.create(60, 120)
    disable(world, "physical:host")

    assert lease_of(world.put(f"/leases/{lease['id']}", {"name": "new"}))["name"] == "new"
    assert world.delete(f"/leases/{lease['id']}").status_code == 204

    world.work()
    assert world.get(f"/leases/{lease['id']}").status_code == 404


def test_what_exists_in_the_cloud_waits_for_the_plugin(world: World, failures: list[str]) -> None:
    lease = world.create("now", 60)
    world.work()
    plugins = world.context.plugins
    disable(world, "physical:host")

    world.delete(f"/leases/{lease['id']}")
    world.work()

    assert "no plugin for reservation" in failures[0]
    assert world.members(lease)
    failures.clear()
    world.restart(build_context(world.engine, world.clock, world.cloud, world.settings, plugins, Silent()))
    world.pass_time(5)
    assert world.get(f"/leases/{lease['id']}").status_code == 404
    assert not world.members(lease)
    failures.clear()
