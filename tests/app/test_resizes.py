"""A lessee who does not confirm the resize of a server keeps neither hosts nor slots, and cannot return."""

from __future__ import annotations

import pytest
from app.http_env import HttpEnv, Json, good, refusal
from app.slots import instances

from blazar.domain.errors import CloudConflict
from blazar.ports.compute import Flavor

SMALL = Flavor(id="small", name="small", vcpus=1, memory_mb=64, disk_gb=0, is_public=True)


@pytest.fixture(autouse=True)
def flavor(env: HttpEnv) -> None:
    env.cloud.flavors.create_flavor(SMALL)


def boot(env: HttpEnv, reservation_id: str, service_host: str | None = None) -> str:
    return env.cloud.boot_server(
        "server", "project", flavor_id=SMALL.id, reservation_id=reservation_id, service_host=service_host
    ).id


def smaller(lease: Json) -> Json:
    return {"reservations": [{"id": lease["reservations"][0]["id"], "min": 1, "max": 1}]}


def test_a_host_to_which_a_server_can_return_is_not_released_early(env: HttpEnv) -> None:
    env.register("h1", "h2")
    lease = env.create("now", 1000, min=2, max=2)
    env.work()
    server_id = boot(env, lease["reservations"][0]["id"], "h1")
    env.cloud.resize_server(server_id, "h2")

    refusal(env.put(f"/leases/{lease['id']}", smaller(lease)), 409)
    assert env.members(lease) == {"h1", "h2"}

    env.cloud.servers.confirm_resize(server_id)
    good(env.put(f"/leases/{lease['id']}", smaller(lease)))
    env.work()
    assert env.members(lease) == {"h2"}


@pytest.mark.parametrize("is_finished", [True, False])
def test_at_the_end_a_server_that_is_elsewhere_can_no_longer_return(env: HttpEnv, is_finished: bool) -> None:
    """A server may run on the hosts of two reservations, if its scheduler hint names both."""
    env.register("h1", "h2")
    first, second = env.create("now", 10), env.create("now", 1000)
    env.work()
    (former,), (present,) = env.members(first), env.members(second)
    server_id = boot(env, first["reservations"][0]["id"], former)
    env.cloud.resize_server(server_id, present, is_finished=is_finished)

    env.pass_time(11)

    if not is_finished:
        assert env.status(first) == "TERMINATING"
        assert env.members(first) == {former}
        env.cloud.finish_resize(server_id)
        env.pass_time(12)
    assert env.status(first) == "TERMINATED"
    with pytest.raises(CloudConflict, match="no finished resize"):
        env.cloud.revert_resize(server_id)
    (server,) = env.cloud.servers.list_servers()
    assert server.service_host == present


def test_a_server_within_the_hosts_of_a_lease_is_deleted_at_the_end(env: HttpEnv) -> None:
    env.register("h1", "h2")
    lease = env.create("now", 10, min=2, max=2)
    env.work()
    env.cloud.resize_server(boot(env, lease["reservations"][0]["id"], "h1"), "h2")

    env.pass_time(11)

    assert env.status(lease) == "TERMINATED"
    assert env.cloud.servers.list_servers() == ()


def test_slots_that_a_server_left_do_not_keep_the_lease_from_ending(env: HttpEnv) -> None:
    env.register("h1")
    env.cloud.add_hypervisor("ordinary")
    lease = env.create("now", 10, asked=instances(amount=1))
    env.work()
    reservation_id = lease["reservations"][0]["id"]
    server_id = env.cloud.boot_server("server", "project", flavor_id=reservation_id).id
    env.cloud.resize_server(server_id, "ordinary", SMALL.id)

    env.pass_time(11)

    assert env.status(lease) == "TERMINATED"
    (server,) = env.cloud.servers.list_servers()
    assert server.service_host == "ordinary"
    good(env.post("/leases", env.wish("now", 200, asked=instances(amount=1))), 201)
