"""A lease whose plugin is no longer enabled is shown, renamed and deleted; its type cannot be reserved."""

from __future__ import annotations

import pytest
from app.http_env import HttpEnv, lease_of, refusal
from app.slots import instances

from blazar.manager.build import build_context
from blazar_plugin_testing.service_env import Silent

pytestmark = pytest.mark.usefixtures("hosts")


def disable(env: HttpEnv, resource_type: str) -> None:
    """Restart the service without the plugin of a resource type."""
    plugins = {key: each for key, each in env.context.plugins.items() if key != resource_type}
    env.restart(build_context(env.engine, env.clock, env.cloud, env.settings, plugins, Silent()))


def test_the_stored_spec_is_shown(env: HttpEnv) -> None:
    lease = env.create(60, 120)
    other = env.create(60, 120, asked=instances())

    disable(env, "physical:host")

    assert env.lease(lease["id"]) == lease
    listed = {each["id"]: each for each in env.get("/leases").json["leases"]}
    assert listed == {each["id"]: each for each in (lease, other)}
    assert "not supported" in refusal(env.post("/leases", env.wish(200, 300)), 400)


def test_it_can_be_renamed_and_deleted(env: HttpEnv) -> None:
    lease = env.create(60, 120)
    disable(env, "physical:host")

    assert lease_of(env.put(f"/leases/{lease['id']}", {"name": "new"}))["name"] == "new"
    assert env.delete(f"/leases/{lease['id']}").status_code == 204

    env.work()
    assert env.get(f"/leases/{lease['id']}").status_code == 404


def test_what_exists_in_the_cloud_waits_for_the_plugin(env: HttpEnv, failures: list[str]) -> None:
    lease = env.create("now", 60)
    env.work()
    plugins = env.context.plugins
    disable(env, "physical:host")

    env.delete(f"/leases/{lease['id']}")
    env.work()

    assert "no plugin for reservation" in failures[0]
    assert env.members(lease)
    failures.clear()
    env.restart(build_context(env.engine, env.clock, env.cloud, env.settings, plugins, Silent()))
    env.pass_time(5)
    assert env.get(f"/leases/{lease['id']}").status_code == 404
    assert not env.members(lease)
    failures.clear()
