"""Allocations of hosts by lease, as operators see them."""

from __future__ import annotations

from app.http_env import Answer, HttpEnv, good


def on_each(hosts: list[str], *lease_ids: str) -> dict[str, list[str]]:
    """Return the expected leases of each host."""
    return {each: list(lease_ids) for each in hosts}


def held(answer: Answer) -> dict[str, list[str]]:
    """Return the leases on each host."""
    found = good(answer)["allocations"]
    return {each["resource_id"]: [one["lease_id"] for one in each["reservations"]] for each in found}


def test_allocations_are_shown_for_every_host(env: HttpEnv, hosts: list[str]) -> None:
    lease = env.create(60, 120, resource_properties='["==", "$service_name", "h2"]')
    reservation_id = lease["reservations"][0]["id"]

    found = good(env.get("/os-hosts/allocations"))["allocations"]

    entry = {
        "id": reservation_id,
        "lease_id": lease["id"],
        "start_date": env.shown(60),
        "end_date": env.shown(120),
    }
    expected = [{"resource_id": each, "reservations": [entry] if each == hosts[1] else []} for each in hosts]
    assert sorted(found, key=lambda each: hosts.index(each["resource_id"])) == expected
    one = good(env.get(f"/os-hosts/{hosts[1]}/allocation"))["allocation"]
    assert one == expected[1]


def test_allocations_are_filtered_by_lease_and_reservation(env: HttpEnv, hosts: list[str]) -> None:
    leases = [env.create(start, start + 60, min=4, max=4) for start in (60, 180)]
    first, second = (each["id"] for each in leases)
    path, one = "/os-hosts/allocations", f"/os-hosts/{hosts[0]}/allocation"

    by_lease = {"lease_id": second}
    by_reservation = {"reservation_id": leases[0]["reservations"][0]["id"]}

    assert held(env.get(path)) == on_each(hosts, first, second)
    assert held(env.get(path, params=by_lease)) == on_each(hosts, second)
    assert held(env.get(path, params=by_reservation)) == on_each(hosts, first)
    assert held(env.get(path, params=by_lease | by_reservation)) == on_each(hosts)
    assert held(env.get(path, params={"lease_id": ""})) == on_each(hosts, first, second)
    found = good(env.get(one, params=by_lease))["allocation"]["reservations"]
    assert [each["lease_id"] for each in found] == [second]


def test_allocations_of_a_lease_that_is_over_are_gone(env: HttpEnv, hosts: list[str]) -> None:
    lease = env.create("now", 10, min=4, max=4)
    env.work()
    assert held(env.get("/os-hosts/allocations")) == on_each(hosts, lease["id"])

    env.pass_time(10)

    assert held(env.get("/os-hosts/allocations")) == on_each(hosts)
