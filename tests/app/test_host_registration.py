"""Registration of hosts: how a request names a hypervisor, and what it takes from Nova."""

from __future__ import annotations

from app.http_env import HttpEnv, good, refusal, shortage

from blazar.plugins.hosts.host import HOST_DETAILS


def test_a_host_is_registered_with_what_nova_knows_of_it(env: HttpEnv) -> None:
    hypervisor = env.cloud.add_hypervisor("h1", service_host="service-1", availability_zone="az1")

    host = good(env.post("/os-hosts", {"name": "h1", "rack": "r1"}), 201)["host"]

    assert host["id"] == hypervisor.id
    shown = ("hypervisor_hostname", "service_name", "availability_zone", "reservable", "status", "trust_id")
    assert [host[key] for key in shown] == ["h1", "service-1", "az1", True, None, None]
    assert (host["vcpus"], host["memory_mb"]) == (hypervisor.vcpus, hypervisor.memory_mb)
    assert host["rack"] == "r1"
    assert host["updated_at"] is None
    assert good(env.get(f"/os-hosts/{host['id']}"))["host"] == host
    assert good(env.get("/os-hosts"))["hosts"] == [host]
    assert env.aggregates()["freepool"] == {"service-1"}
    assert env.has_provider("h1")


def test_a_host_is_registered_by_its_id_which_goes_before_its_name(env: HttpEnv) -> None:
    hypervisor = env.cloud.add_hypervisor("h1")

    refusal(env.post("/os-hosts", {"id": "nothing", "name": "h1"}), 404)
    host = good(env.post("/os-hosts", {"id": hypervisor.id, "name": "other"}), 201)["host"]

    assert (host["id"], host["hypervisor_hostname"]) == (hypervisor.id, "h1")
    assert "name" not in host


def test_hosts_whose_names_contain_one_another_do_not_stand_in_each_others_way(env: HttpEnv) -> None:
    for name in ("node-1", "node-10", "node-100"):
        env.cloud.add_hypervisor(name)

    ids = [good(env.post("/os-hosts", {"name": name}), 201)["host"]["id"] for name in ("node-10", "node-1")]
    assert env.aggregates()["freepool"] == {"node-1", "node-10"}

    assert env.delete(f"/os-hosts/{ids[1]}").status_code == 204
    assert env.aggregates()["freepool"] == {"node-10"}
    assert [env.has_provider(name) for name in ("node-1", "node-10", "node-100")] == [False, True, False]


def test_a_host_is_registered_by_its_short_name_if_only_one_has_it(env: HttpEnv) -> None:
    for name in ("node-1.a.example", "node-10.a.example", "node-2.a.example", "node-2.b.example", "node-2"):
        env.cloud.add_hypervisor(name)

    hosts = [good(env.post("/os-hosts", {"name": name}), 201)["host"] for name in ("node-1", "node-2")]

    assert [each["hypervisor_hostname"] for each in hosts] == ["node-1.a.example", "node-2"]
    refusal(env.post("/os-hosts", {"name": "node-1"}), 409)


def test_a_short_name_of_several_hosts_is_refused_with_their_names(env: HttpEnv) -> None:
    for name in ("node-2.a.example", "node-2.b.example"):
        env.cloud.add_hypervisor(name)
    before = env.snapshot()

    message = refusal(env.post("/os-hosts", {"name": "node-2"}), 409)

    assert message.startswith("name: ")
    assert "node-2.a.example, node-2.b.example" in message
    assert env.snapshot() == before


def test_a_host_that_was_removed_from_nova_is_not_mistaken_for_another(env: HttpEnv) -> None:
    host = good(env.post("/os-hosts", {"name": env.cloud.add_hypervisor("node-1").hypervisor_hostname}), 201)
    env.cloud.add_hypervisor("node-1.a.example")
    env.cloud.remove_hypervisor("node-1")

    assert env.delete(f"/os-hosts/{host['host']['id']}").status_code == 204

    assert (
        good(env.post("/os-hosts", {"name": "node-1"}), 201)["host"]["hypervisor_hostname"]
        == "node-1.a.example"
    )


def test_facts_that_nova_supplies_are_ignored_in_a_registration(env: HttpEnv) -> None:
    env.cloud.add_hypervisor("h1")
    shown = good(env.post("/os-hosts", {"name": "h1", "rack": "r1"}), 201)["host"]
    assert env.delete(f"/os-hosts/{shown['id']}").status_code == 204
    facts = {key: shown[key] for key in HOST_DETAILS}

    again = good(env.post("/os-hosts", {"name": "h1", "rack": "r1", **facts, "vcpus": 99999}), 201)["host"]

    assert {key: again[key] for key in facts} == facts
    shortage(env.post("/leases", env.wish(min=1, max=1, resource_properties='[">=", "$vcpus", "99999"]')))
