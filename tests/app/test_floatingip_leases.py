"""Leases of floating IPs, and the resulting floating IPs in Neutron."""

from __future__ import annotations

import pytest
from app.conftest import EnvWith
from app.floatingips import UNKNOWN, Pool, address, make_pool
from app.http_env import LESSEE, HttpEnv, Json, good, quiet_settings, refusal


class TestLeases:
    def test_addresses_are_the_lessees_from_the_start_to_the_end(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2, 3)
        lease = env.create(10, 60, asked=pool.asked(2, 3))
        env.pass_time(9)
        assert pool.existing() == {}

        env.pass_time(10)

        assert env.status(lease) == "ACTIVE"
        assert pool.of(lease) == {address(1), address(3)}
        env.pass_time(60)
        assert env.status(lease) == "TERMINATED"
        assert pool.existing() == {}

    def test_what_clients_see_of_a_reservation(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2)
        lease = env.create(10, 60, asked=pool.asked("2", 1, min="", flavor_id=None))
        (reservation,) = lease["reservations"]

        assert reservation == {
            "id": reservation["id"],
            "lease_id": lease["id"],
            "resource_id": reservation["id"],
            "resource_type": "virtual:floatingip",
            "status": "pending",
            "missing_resources": False,
            "resources_changed": False,
            "created_at": "2031-01-01 00:00:20",
            "updated_at": "2031-01-01 00:00:20",
            "network_id": pool.network_id,
            "amount": 2,
            "required_floatingips": [address(1)],
        }

    def test_an_attached_address_goes_all_the_same(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1)
        lease = env.create("now", 60, asked=pool.asked())
        env.work()
        env.cloud.attach_floating_ip(pool.existing()[address(1)].id, "port")

        env.delete(f"/leases/{lease['id']}")
        env.work()

        assert pool.existing() == {}
        refusal(env.get(f"/leases/{lease['id']}"), 404)

    def test_none_at_all_may_be_asked_for(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1)
        lease = env.create("now", 60, asked=pool.asked(0))
        env.work()

        assert env.status(lease) == "ACTIVE"
        assert pool.existing() == {}
        env.pass_time(61)
        assert env.status(lease) == "TERMINATED"

    def test_a_lease_may_have_hosts_and_addresses(self, env: HttpEnv, pool: Pool) -> None:
        env.register("h1")
        pool.register(1, 2)
        body = env.wish("now", 60, asked=pool.asked(1, 1))
        body["reservations"] += [pool.asked(1), env.wish()["reservations"][0]]
        lease = good(env.post("/leases", body, who=LESSEE), 201)["lease"]
        env.work()

        assert env.status(lease) == "ACTIVE"
        assert pool.existing().keys() == {address(1), address(2)}
        assert env.aggregates()[lease["reservations"][2]["id"]] == {"h1"}

    def test_allocations_of_hosts_are_of_hosts_only(self, env: HttpEnv, pool: Pool) -> None:
        hosts = env.register("h1")
        pool.register(1)
        lease = env.create("now", 60, asked=pool.asked())

        for params in ({}, {"lease_id": lease["id"]}):
            found = good(env.get("/os-hosts/allocations", params=params))["allocations"]
            assert found == [{"resource_id": hosts[0], "reservations": []}]

    @pytest.mark.parametrize("start", [10, "now"])
    def test_an_address_is_promised_once(self, env: HttpEnv, pool: Pool, start: float | str) -> None:
        pool.register(1, 2)
        env.create(start, 60, asked=pool.asked(1, 1))

        for asked in (pool.asked(2), pool.asked(1, 1)):
            message = refusal(env.post("/leases", env.wish(20, 30, asked=asked), who=LESSEE), 400)
            assert "ot enough" in message or address(1) in message
        env.create(20, 30, asked=pool.asked(1))
        env.create(60, 90, asked=pool.asked(2))

    def test_cleaning_time_is_owed_between_two_leases(self, env_with: EnvWith) -> None:
        env = env_with(quiet_settings(cleaning_minutes=10))
        pool = make_pool(env)
        pool.register(1)
        env.create(30, 60, asked=pool.asked())

        refusal(env.post("/leases", env.wish(69, 90, asked=pool.asked()), who=LESSEE), 400)
        env.create(70, 90, asked=pool.asked())
        refusal(env.post("/leases", env.wish(10, 21, asked=pool.asked()), who=LESSEE), 400)
        env.create(10, 20, asked=pool.asked())

    @pytest.mark.parametrize(
        ("asked", "key"),
        [
            ({"network_id": UNKNOWN}, "network_id"),
            ({"network_id": None}, "network_id"),
            ({"network_id": ""}, "network_id"),
            ({"amount": -1}, "amount"),
            ({"amount": "x"}, "amount"),
            ({"amount": ""}, "amount"),
            ({"amount": None}, "amount"),
            ({"required_floatingips": "203.0.113.201"}, "required_floatingips"),
            ({"required_floatingips": ["x"]}, "required_floatingips"),
            ({"required_floatingips": [address(1), address(2)]}, "required_floatingips"),
            ({"required_floatingips": [address(9)]}, "required_floatingips"),
            ({"required_floatingips": ["203.0.113.50"]}, "required_floatingips"),
        ],
    )
    def test_what_makes_no_sense_is_refused_by_key(
        self, env: HttpEnv, pool: Pool, asked: Json, key: str
    ) -> None:
        pool.register(1, 2)
        before = env.snapshot()

        message = refusal(env.post("/leases", env.wish(asked={**pool.asked(), **asked}), who=LESSEE), 400)

        assert key in message
        assert env.snapshot() == before

    @pytest.mark.parametrize("key", ["network_id", "amount"])
    def test_what_has_to_be_there_is_named(self, env: HttpEnv, pool: Pool, key: str) -> None:
        pool.register(1)
        asked = {name: value for name, value in pool.asked().items() if name != key}

        message = refusal(env.post("/leases", env.wish(asked=asked), who=LESSEE), 400)

        assert message == f"Missing parameter {key}"

    def test_a_taken_address_is_replaced_by_another(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2)
        lease = env.create(10, 60, asked=pool.asked())
        other = pool.put(1)

        env.pass_time(11)

        assert env.status(lease) == "ACTIVE"
        assert pool.of(lease) == {address(2)}
        assert pool.existing()[address(1)] == other

    def test_a_required_address_is_waited_for(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2)
        lease = env.create(10, 60, asked=pool.asked(1, 1))
        other = pool.put(1)
        env.pass_time(12)
        assert env.status(lease) == "STARTING"

        env.cloud.networks.delete_floating_ip(other.id)
        env.pass_time(15)

        assert env.status(lease) == "ACTIVE"
        assert pool.of(lease) == {address(1)}

    def test_an_over_quota_project_gets_an_error_and_keeps_nothing(self, env: HttpEnv, pool: Pool) -> None:
        """After the quota was raised, a retry succeeds."""
        pool.register(1, 2)
        lease = env.create(10, 60, asked=pool.asked(2))
        with env.failing("networks.create_floating_ip", status=403, nth=2):
            env.pass_time(11)
        assert env.status(lease) == "ERROR"
        assert pool.existing() == {}

        env.change(lease, end_date=env.date(70))
        env.work()

        assert env.status(lease) == "ACTIVE"
        assert pool.of(lease) == {address(1), address(2)}


class TestChanges:
    def test_a_pending_reservation_grows_and_shrinks(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2, 3)
        lease = env.create(10, 60, asked=pool.asked(2))

        env.change(lease, reservation={"amount": 3})
        changed = env.change(lease, reservation={"amount": "1"})

        assert changed["reservations"][0]["amount"] == 1
        env.create(10, 60, asked=pool.asked(2))
        env.pass_time(11)
        assert len(pool.of(lease)) == 1

    def test_an_active_reservation_grows_and_keeps_what_it_has(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2, 3)
        lease = env.create("now", 60, asked=pool.asked(1, 2))
        env.work()
        kept = pool.existing()[address(2)]

        env.change(lease, reservation={"amount": 3})
        env.work()

        assert pool.of(lease) == {address(1), address(2), address(3)}
        assert pool.existing()[address(2)] == kept

    @pytest.mark.parametrize("is_attached", [True, False])
    def test_an_active_reservation_shrinks_to_what_is_in_use(
        self, env: HttpEnv, pool: Pool, is_attached: bool
    ) -> None:
        pool.register(1, 2, 3)
        lease = env.create("now", 60, asked=pool.asked(3))
        env.work()
        used = pool.existing()[address(2)]
        if is_attached:
            env.cloud.attach_floating_ip(used.id, "port")
        else:
            env.cloud.forward_port(used.id)

        env.change(lease, reservation={"amount": 1})

        assert pool.existing().keys() == {address(2)}
        env.work()
        assert pool.existing().keys() == {address(2)}
        assert env.status(lease) == "ACTIVE"
        other = env.create("now", 60, asked=pool.asked(2))
        env.work()
        assert pool.of(other) == {address(1), address(3)}
        before = env.snapshot()
        body = {"reservations": [{"id": lease["reservations"][0]["id"], "amount": 0}]}
        message = refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 409)
        assert message.startswith("amount: ")
        assert address(2) in message
        assert env.snapshot() == before

    @pytest.mark.parametrize("operation", ["networks.list_floating_ips", "networks.delete_floating_ip"])
    def test_an_active_reservation_that_cannot_shrink_now_has_all_its_addresses(
        self, env: HttpEnv, pool: Pool, operation: str
    ) -> None:
        pool.register(1, 2, 3)
        lease = env.create("now", 60, asked=pool.asked(3))
        env.work()
        body = {"reservations": [{"id": lease["reservations"][0]["id"], "amount": 1}]}

        with env.failing(operation, nth=2):
            refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 503)
        env.work()

        assert env.lease(lease["id"])["reservations"][0]["amount"] == 3
        assert pool.of(lease) == {address(1), address(2), address(3)}

    def test_the_network_is_fixed(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1)
        lease = env.create(10, 60, asked=pool.asked())
        reservation_id = lease["reservations"][0]["id"]

        for network_id in (UNKNOWN, None, 7):
            body = {"reservations": [{"id": reservation_id, "network_id": network_id}]}
            assert "network_id" in refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 400)
        env.change(lease, reservation={"network_id": pool.network_id})

    def test_other_addresses_can_be_required_before_the_start(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2, 3)
        lease = env.create(10, 60, asked=pool.asked(1, 1))

        changed = env.change(lease, reservation={"required_floatingips": [address(3)]})
        assert changed["reservations"][0]["required_floatingips"] == [address(3)]
        env.create(10, 60, asked=pool.asked(1, 1))
        env.pass_time(11)

        assert pool.of(lease) == {address(3)}

    def test_required_addresses_are_given_up_as_a_whole_while_active(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2)
        lease = env.create("now", 60, asked=pool.asked(1, 2))
        env.work()
        path, reservation_id = f"/leases/{lease['id']}", lease["reservations"][0]["id"]

        for required in ([address(1)], None, "x"):
            body = {"reservations": [{"id": reservation_id, "required_floatingips": required}]}
            assert "required_floatingips" in refusal(env.put(path, body, who=LESSEE), 400)
        env.change(lease, reservation={"required_floatingips": [address(2)]})
        changed = env.change(lease, reservation={"required_floatingips": []})
        env.work()

        assert changed["reservations"][0]["required_floatingips"] == []
        assert pool.of(lease) == {address(2)}

    def test_a_lease_that_cannot_be_extended_stays_as_it_is(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2)
        lease = env.create("now", 60, asked=pool.asked(1, 1))
        env.create(60, 90, asked=pool.asked(1, 1))
        env.work()
        before = env.snapshot()

        refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(61)}, who=LESSEE), 400)

        assert env.snapshot() == before
        assert env.status(lease) == "ACTIVE"

    def test_a_pending_lease_that_is_moved_gets_other_addresses_if_need_be(
        self, env: HttpEnv, pool: Pool
    ) -> None:
        pool.register(1, 2)
        lease = env.create(10, 20, asked=pool.asked())
        env.create(30, 40, asked=pool.asked(1, 1))

        env.change(lease, start_date=env.date(30), end_date=env.date(40))
        env.pass_time(31)

        assert pool.of(lease) == {address(2)}
