"""The life cycle of hosts: registration, capabilities and removal; a failed operation can be repeated."""

from __future__ import annotations

from typing import Any

import pytest
from app.conftest import EnvWith
from app.http_env import FREE, Answer, HttpEnv, Json, good, quiet_settings, refusal, shortage

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.lease import ResourceId
from blazar.plugins.hosts.host import HOST_DETAILS
from blazar.plugins.hosts.store import HOST_STORE

# Obstacles to a registration, and how each is removed.


def mend_unknown(env: HttpEnv) -> None:
    env.cloud.add_hypervisor("new")


def mend_servers(env: HttpEnv) -> None:
    for server in env.cloud.servers.list_servers(service_host="new"):
        env.cloud.servers.delete_server(server.id)


def mend_provider(env: HttpEnv) -> None:
    env.cloud.placement.create_provider("new", None)


def mend_freepool(env: HttpEnv) -> None:
    env.cloud.add_aggregate("freepool")


def mend_registered(env: HttpEnv) -> None:
    for host in good(env.get("/os-hosts"))["hosts"]:
        assert env.delete(f"/os-hosts/{host['id']}").status_code == 204


def break_unknown(env: HttpEnv) -> None:
    env.cloud.remove_hypervisor("new")


def break_servers(env: HttpEnv) -> None:
    env.cloud.boot_server("pet", "other", service_host="new")


def break_provider(env: HttpEnv) -> None:
    provider = env.cloud.placement.find_provider("new")
    assert provider is not None
    env.cloud.placement.delete_provider(provider.uuid)


def break_freepool(env: HttpEnv) -> None:
    (freepool,) = env.cloud.aggregates.list_aggregates()
    env.cloud.aggregates.delete_aggregate(freepool.id)


def break_registered(env: HttpEnv) -> None:
    good(env.post("/os-hosts", {"name": "new"}), 201)


@pytest.mark.parametrize(
    ("spoil", "mend", "status", "told"),
    [
        pytest.param(break_unknown, mend_unknown, 404, "host_id new", id="unknown"),
        pytest.param(break_servers, mend_servers, 409, "servers run on host new", id="servers"),
        pytest.param(break_registered, mend_registered, 409, "new is already registered", id="registered"),
        pytest.param(break_freepool, mend_freepool, 404, "named freepool", id="no-freepool"),
        pytest.param(break_provider, mend_provider, 404, "provider named new", id="no-provider"),
    ],
)
def test_a_refused_registration_leaves_nothing_and_succeeds_once_things_are_mended(
    env: HttpEnv, spoil: Any, mend: Any, status: int, told: str
) -> None:
    env.cloud.add_hypervisor("new")
    spoil(env)
    before = env.snapshot()

    assert told in refusal(env.post("/os-hosts", {"name": "new"}), status)
    assert env.snapshot() == before

    mend(env)
    good(env.post("/os-hosts", {"name": "new"}), 201)
    assert env.aggregates()["freepool"] == {"new"}
    assert env.has_provider("new")


INTERRUPTIONS = {
    "fails": lambda nth: FaultRule(kind=FaultKind.STATUS, status=503, nth=nth),
    "reply-lost": lambda nth: FaultRule(kind=FaultKind.LOSE_REPLY, nth=nth),
}


def count_calls(env: HttpEnv, method: str, path: str, body: Json | None) -> int:
    """Return how many calls a request that succeeds makes."""
    before = env.cloud.calls.total()
    assert env.ask(method, path, json=body).status_code < 300
    return env.cloud.calls.total() - before


def interrupted(env: HttpEnv, method: str, path: str, body: Json | None, rule: FaultRule) -> Answer:
    env.cloud.faults.add(rule)
    answer = env.ask(method, path, json=body)
    env.cloud.faults.clear()
    return answer


@pytest.mark.parametrize("kind", INTERRUPTIONS)
def test_a_registration_that_was_interrupted_anywhere_succeeds_when_it_is_repeated(
    env: HttpEnv, kind: str
) -> None:
    env.cloud.add_hypervisor("first")
    calls = count_calls(env, "POST", "/os-hosts", {"name": "first"})
    assert calls > 8

    for nth in range(1, calls + 1):
        name = f"new-{nth}"
        hypervisor = env.cloud.add_hypervisor(name)
        answer = interrupted(env, "POST", "/os-hosts", {"name": name, "rack": "r"}, INTERRUPTIONS[kind](nth))
        assert "failed by script" in refusal(answer, 503)
        refusal(env.get(f"/os-hosts/{hypervisor.id}"), 404)

        host = good(env.post("/os-hosts", {"name": name, "rack": "r"}), 201)["host"]
        assert (host["id"], host["rack"]) == (hypervisor.id, "r")
        assert env.has_provider(name)
    names = {"first", *(f"new-{nth}" for nth in range(1, calls + 1))}
    assert env.aggregates() == {"freepool": names}
    assert {each["hypervisor_hostname"] for each in good(env.get("/os-hosts"))["hosts"]} == names


@pytest.mark.parametrize("kind", INTERRUPTIONS)
def test_a_removal_that_was_interrupted_anywhere_succeeds_when_it_is_repeated(
    env: HttpEnv, kind: str
) -> None:
    (first,) = env.register("first")
    calls = count_calls(env, "DELETE", f"/os-hosts/{first}", None)
    assert calls > 4

    for nth in range(1, calls + 1):
        (host_id,) = env.register(f"new-{nth}")
        answer = interrupted(env, "DELETE", f"/os-hosts/{host_id}", None, INTERRUPTIONS[kind](nth))
        assert "failed by script" in refusal(answer, 503)
        good(env.get(f"/os-hosts/{host_id}"))

        assert env.delete(f"/os-hosts/{host_id}").status_code == 204
        refusal(env.get(f"/os-hosts/{host_id}"), 404)
        assert not env.has_provider(f"new-{nth}")
    assert env.aggregates() == {"freepool": frozenset()}
    assert good(env.get("/os-hosts"))["hosts"] == []


@pytest.mark.usefixtures("hosts")
def test_a_host_whose_removal_was_interrupted_can_still_be_leased(env: HttpEnv) -> None:
    host_id = good(env.get("/os-hosts"))["hosts"][0]["id"]
    rule = FaultRule(kind=FaultKind.LOSE_REPLY, operation="compute.remove_host")
    interrupted(env, "DELETE", f"/os-hosts/{host_id}", None, rule)

    lease = env.create(min=4, max=4)
    env.pass_time(60)

    assert env.status(lease) == "TERMINATED"
    assert env.aggregates() == {"freepool": FREE}


# Removal.


def test_a_host_is_removed_when_no_lease_holds_it(env: HttpEnv, hosts: list[str]) -> None:
    ahead = env.create(60, 120, hypervisor_properties='["==", "$service_name", "h1"]')
    before = env.snapshot()

    assert f"Host {hosts[0]} is reserved" in refusal(env.delete(f"/os-hosts/{hosts[0]}"), 409)
    assert env.snapshot() == before

    assert env.delete(f"/leases/{ahead['id']}").status_code == 204
    assert env.delete(f"/os-hosts/{hosts[0]}").status_code == 204
    refusal(env.delete(f"/os-hosts/{hosts[0]}"), 404)
    assert env.aggregates() == {"freepool": FREE - {"h1"}}


def test_a_host_with_servers_is_not_removed(env: HttpEnv, hosts: list[str]) -> None:
    server = env.cloud.boot_server("pet", "other", service_host="h1")
    before = env.snapshot()

    assert "servers run on host h1" in refusal(env.delete(f"/os-hosts/{hosts[0]}"), 409)
    assert env.snapshot() == before

    env.cloud.servers.delete_server(server.id)
    assert env.delete(f"/os-hosts/{hosts[0]}").status_code == 204


def test_a_host_is_removed_after_its_leases_and_their_cleaning(env_with: EnvWith) -> None:
    env = env_with(quiet_settings(cleaning_minutes=15))
    (host_id,) = env.register("h1")
    env.create("now", 10)
    env.pass_time(10)
    assert "is being cleaned" in refusal(env.delete(f"/os-hosts/{host_id}"), 409)

    env.pass_time(26)

    assert env.delete(f"/os-hosts/{host_id}").status_code == 204


def test_a_host_that_nova_has_lost_can_be_removed(env: HttpEnv) -> None:
    (host_id,) = env.register("h1")
    env.cloud.remove_hypervisor("h1")

    assert env.delete(f"/os-hosts/{host_id}").status_code == 204
    assert good(env.get("/os-hosts"))["hosts"] == []


def test_a_removed_host_can_be_registered_again(env: HttpEnv) -> None:
    (host_id,) = env.register("h1", rack="r1")
    assert env.delete(f"/os-hosts/{host_id}").status_code == 204

    host = good(env.post("/os-hosts", {"name": "h1"}), 201)["host"]

    assert host["id"] == host_id
    assert "rack" not in host
    env.create()


# Extra capabilities.


def test_capabilities_are_set_changed_and_removed(env: HttpEnv) -> None:
    (host_id,) = env.register("h1", rack="r1")
    path = f"/os-hosts/{host_id}"

    assert good(env.put(path, {"gpu": "a100"}))["host"]["gpu"] == "a100"
    changed = good(env.put(path, {"gpu": 4, "rack": "r2", "fast": True, "name": "n"}))["host"]
    assert {key: changed[key] for key in ("gpu", "rack", "fast", "name")} == {
        "gpu": "4",
        "rack": "r2",
        "fast": "1",
        "name": "n",
    }
    assert changed["hypervisor_hostname"] == "h1"
    removed = good(env.put(path, {"gpu": None, "no_such_thing": None}))["host"]
    assert "gpu" not in removed
    assert "no_such_thing" not in removed
    assert good(env.get(path))["host"] == removed


@pytest.mark.parametrize("key", ["hypervisor_properties", "resource_properties"])
@pytest.mark.parametrize(("start", "is_active"), [(60, False), ("now", True)])
def test_a_capability_in_use_is_not_changed_and_neither_are_others_in_that_request(
    env: HttpEnv, hosts: list[str], key: str, start: Any, is_active: bool
) -> None:
    properties: Json = {key: '["==", "$rack", "r1"]'}
    lease = env.create(start, 120, min=2, max=2, **properties)
    env.work()
    assert env.status(lease) == ("ACTIVE" if is_active else "PENDING")
    before = env.snapshot()

    for change in ({"rack": "r2"}, {"rack": None}, {"gpu": "a100", "rack": "r2", "slots": None}):
        assert "rack" in refusal(env.put(f"/os-hosts/{hosts[0]}", change), 409)
    assert env.snapshot() == before

    # The same value is not a change; other keys and other hosts can be changed.
    good(env.put(f"/os-hosts/{hosts[0]}", {"rack": "r1", "gpu": "a100", "slots": None}))
    good(env.put(f"/os-hosts/{hosts[2]}", {"rack": "r3"}))
    assert env.delete(f"/leases/{lease['id']}").status_code == 204
    env.work()
    assert good(env.put(f"/os-hosts/{hosts[0]}", {"rack": "r2"}))["host"]["rack"] == "r2"


FIELDS = {
    "vcpus": "host refresh",
    "availability_zone": "host refresh",
    "reservable": "openstack compute service set --disable",
    "status": "openstack compute service set --disable",
    "id": "set by the service",
    "created_at": "set by the service",
}


@pytest.mark.parametrize(("field", "hint"), FIELDS.items())
@pytest.mark.parametrize("value", ["99999", 1, False])
def test_a_field_of_hosts_is_not_set_as_an_extra_capability(
    env: HttpEnv, field: str, hint: str, value: object
) -> None:
    (host_id,) = env.register("h1")
    env.cloud.add_hypervisor("h2")
    before = env.snapshot()

    messages = [refusal(env.put(f"/os-hosts/{host_id}", {"rack": "r1", field: value}), 400)]
    if field not in {"id", *HOST_DETAILS}:
        messages.append(refusal(env.post("/os-hosts", {"name": "h2", field: value}), 400))

    assert all(each.startswith(f"{field}: ") and hint in each for each in messages)
    assert env.snapshot() == before


def test_a_capability_of_the_name_of_a_field_that_is_there_can_be_removed(env: HttpEnv) -> None:
    (host_id,) = env.register("h1")
    vcpus = good(env.get(f"/os-hosts/{host_id}"))["host"]["vcpus"]
    # As left by an earlier version or an import.
    with env.context.store.begin() as transaction:
        transaction.of(HOST_STORE).set_capabilities(ResourceId(host_id), {"vcpus": "99999"}, env.clock.now())
        transaction.commit()
    assert good(env.get(f"/os-hosts/{host_id}"))["host"]["vcpus"] == "99999"
    shortage(env.post("/leases", env.wish(resource_properties='[">=", "$vcpus", "99999"]')))

    host = good(env.put(f"/os-hosts/{host_id}", {"vcpus": None}))["host"]

    assert host["vcpus"] == vcpus


def test_a_capability_that_was_changed_counts_from_then_on(env: HttpEnv, hosts: list[str]) -> None:
    wish = env.wish(min=3, max=3, resource_properties='["==", "$rack", "r1"]')
    shortage(env.post("/leases", wish))

    good(env.put(f"/os-hosts/{hosts[2]}", {"rack": "r1"}))

    good(env.post("/leases", wish), 201)
