"""Registration and removal of floating IPs from external networks."""

from __future__ import annotations

import re

import pytest
from app.conftest import EnvWith
from app.floatingips import UNKNOWN, Pool, address, make_pool
from app.http_env import ADMIN, LESSEE, READER, STRANGER, HttpEnv, good, quiet_settings, refusal
from app.wire import client_of

from blazarclient.exception import BadRequest, NotFound


class TestRegistration:
    def test_an_address_is_registered_shown_listed_and_removed(self, env: HttpEnv, pool: Pool) -> None:
        made = good(env.post("/floatingips", pool.registration(1)), 201)["floatingip"]
        path = f"/floatingips/{made['id']}"
        shown = good(env.get(path, who=READER))["floatingip"]

        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made["id"])
        assert made == {
            "id": made["id"],
            "floating_network_id": pool.network_id,
            "subnet_id": pool.subnet_id,
            "floating_ip_address": address(1),
            "reservable": True,
            "created_at": "2031-01-01T00:00:20.000000",
            "updated_at": None,
        }
        assert shown == {**made, "created_at": "2031-01-01 00:00:20"}
        assert good(env.get("/floatingips", who=READER))["floatingips"] == [shown]
        assert env.delete(path).status_code == 204
        assert refusal(env.get(path), 404) == f"Floating IP not found: floatingip_id {made['id']}"
        assert good(env.get("/floatingips"))["floatingips"] == []

    def test_it_leaves_no_trace_in_neutron(self, env: HttpEnv, pool: Pool) -> None:
        (floatingip_id,) = pool.register(1)
        env.delete(f"/floatingips/{floatingip_id}")

        assert pool.existing() == {}
        assert not any("create" in name for name in env.cloud.calls if name.startswith("networks."))

    def test_other_keys_are_ignored(self, env: HttpEnv, pool: Pool) -> None:
        body = {**pool.registration(1), "id": "x", "reservable": False, "subnet_id": 7}

        made = good(env.post("/floatingips", body), 201)["floatingip"]

        assert (made["reservable"], made["subnet_id"]) == (True, pool.subnet_id)
        assert made["id"] != "x"

    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("198.51.100.7", "no subnet"),
            ("2001:db8::7", "no subnet"),
            ("203.0.113.1", "gateway"),
            ("203.0.113.50", "allocation pool"),
            ("203.0.113.0", "network or broadcast"),
            ("203.0.113.255", "network or broadcast"),
        ],
    )
    def test_an_address_that_neutron_may_give_out_is_refused(
        self, env: HttpEnv, pool: Pool, text: str, word: str
    ) -> None:
        before = env.snapshot()

        message = refusal(env.post("/floatingips", pool.registration(text)), 400)

        assert message.startswith(f"floating_ip_address: {text} ")
        assert word in message
        assert env.snapshot() == before

    def test_a_pool_of_any_subnet_of_the_network_counts(self, env: HttpEnv, pool: Pool) -> None:
        env.cloud.add_subnet(pool.network_id, "198.51.100.0/24", gateway_ip="203.0.113.201")

        assert "gateway" in refusal(env.post("/floatingips", pool.registration(1)), 400)
        made = good(env.post("/floatingips", pool.registration("198.51.100.7")), 201)["floatingip"]
        assert made["subnet_id"] != pool.subnet_id

    def test_an_unknown_network_is_refused(self, env: HttpEnv, pool: Pool) -> None:
        for network_id in (UNKNOWN, "../subnets", "public"):
            body = {**pool.registration(1), "floating_network_id": network_id}

            assert refusal(env.post("/floatingips", body), 400).startswith("floating_network_id: ")

    def test_a_network_that_is_not_external_is_refused(self, env: HttpEnv, pool: Pool) -> None:
        env.cloud.set_network_external(pool.network_id, False)

        message = refusal(env.post("/floatingips", pool.registration(1)), 400)

        assert message == f"floating_network_id: network {pool.network_id} is not external"

    def test_a_subnet_without_a_gateway_and_without_pools_will_do(self, env: HttpEnv) -> None:
        network = env.cloud.add_network("bare")
        env.cloud.add_subnet(network.id, "192.0.2.0/24")

        body = {"floating_network_id": network.id, "floating_ip_address": "192.0.2.1"}

        assert good(env.post("/floatingips", body), 201)["floatingip"]["floating_ip_address"] == "192.0.2.1"

    def test_ipv6_is_compared_by_value_and_shown_in_one_form(self, env: HttpEnv, pool: Pool) -> None:
        pools = (("2001:db8::10", "2001:db8::ff"),)
        env.cloud.add_subnet(
            pool.network_id, "2001:db8::/64", gateway_ip="2001:db8::1", allocation_pools=pools
        )

        made = good(env.post("/floatingips", pool.registration("2001:0DB8:0:0::0A00")), 201)["floatingip"]

        assert made["floating_ip_address"] == "2001:db8::a00"
        refusal(env.post("/floatingips", pool.registration("2001:db8:0::a00")), 409)
        assert "gateway" in refusal(env.post("/floatingips", pool.registration("2001:db8:0::0001")), 400)
        assert "pool" in refusal(env.post("/floatingips", pool.registration("2001:db8::20")), 400)

    def test_an_address_is_registered_once(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1)

        assert address(1) in refusal(env.post("/floatingips", pool.registration(1)), 409)
        assert len(good(env.get("/floatingips"))["floatingips"]) == 1

    def test_an_address_in_use_in_neutron_is_refused(self, env: HttpEnv, pool: Pool) -> None:
        made = pool.put(1)

        message = refusal(env.post("/floatingips", pool.registration(1)), 409)

        assert made.id in message
        assert "elsewhere" in message
        assert pool.reservable() == {}

    def test_without_neutron_nothing_is_registered(self, env: HttpEnv, pool: Pool) -> None:
        with env.failing("networks.list_subnets"):
            refusal(env.post("/floatingips", pool.registration(1)), 503)

        assert pool.register(1)

    @pytest.mark.parametrize("method", ["GET", "DELETE"])
    def test_an_unknown_one_is_not_found(self, env: HttpEnv, method: str) -> None:
        for path in (UNKNOWN, "allocations", "x" * 300):
            assert path[:64] in refusal(env.ask(method, f"/floatingips/{path}"), 404)

    def test_lessees_may_look_only(self, env: HttpEnv, pool: Pool) -> None:
        (floatingip_id,) = pool.register(1)

        for who in (LESSEE, STRANGER, READER):
            good(env.get(f"/floatingips/{floatingip_id}", who=who))
            create = refusal(env.post("/floatingips", pool.registration(2), who=who), 403)
            assert "blazar:floatingips:post" in create
            message = refusal(env.delete(f"/floatingips/{floatingip_id}", who=who), 403)
            assert "blazar:floatingips:delete" in message
            refusal(env.delete(f"/floatingips/{UNKNOWN}", who=who), 404)


class TestRemoval:
    def test_what_is_reserved_stays(self, env: HttpEnv, pool: Pool) -> None:
        (floatingip_id,) = pool.register(1)
        lease = env.create(10, 60, asked=pool.asked())

        assert floatingip_id in refusal(env.delete(f"/floatingips/{floatingip_id}"), 409)
        env.delete(f"/leases/{lease['id']}")
        assert env.delete(f"/floatingips/{floatingip_id}").status_code == 204

    def test_a_lease_that_is_over_is_not_in_the_way(self, env: HttpEnv, pool: Pool) -> None:
        (floatingip_id,) = pool.register(1)
        lease = env.create("now", 5, asked=pool.asked())
        env.pass_time(6)

        assert env.status(lease) == "TERMINATED"
        assert env.delete(f"/floatingips/{floatingip_id}").status_code == 204

    def test_what_is_being_cleaned_stays_until_it_is_clean(self, env_with: EnvWith) -> None:
        env = env_with(quiet_settings(cleaning_minutes=10))
        pool = make_pool(env)
        (floatingip_id,) = pool.register(1)
        env.create("now", 5, asked=pool.asked())
        env.pass_time(14)

        refusal(env.delete(f"/floatingips/{floatingip_id}"), 409)
        env.pass_time(16)
        assert env.delete(f"/floatingips/{floatingip_id}").status_code == 204


def test_operators_remove_what_lessees_cannot(env: HttpEnv, pool: Pool) -> None:
    (floatingip_id,) = pool.register(1)

    assert env.delete(f"/floatingips/{floatingip_id}", who=ADMIN).status_code == 204


def test_the_client_registers_lists_shows_and_removes(env: HttpEnv, pool: Pool) -> None:
    client = client_of(env)

    made = client.floatingip.create(pool.network_id, address(1))

    assert client.floatingip.get(made["id"])["floating_ip_address"] == address(1)
    assert [each["id"] for each in client.floatingip.list()] == [made["id"]]
    client.floatingip.delete(made["id"])
    with pytest.raises(NotFound):
        client.floatingip.get(made["id"])
    with pytest.raises(BadRequest):
        client.floatingip.create(pool.network_id, "203.0.113.50")
