"""The end of storage leases whose volumes are kept without access, with their capacity booked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good, refusal
from app.storage import FAST, SLOW, Storage, asked, make_storage

from blazar.db.stats import SqlStats
from blazar.domain.errors import CloudNotFound
from blazar.plugins.volumes.check import check_pools
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.ports.block_storage import Volume
from blazar.ports.stats import Wait

HOUR = 60
GRACE = 24


@pytest.fixture
def storage(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> Storage:
    storage = make_storage(engine, tmp_path, VolumeSettings(freeze_grace_hours=GRACE))
    storage.register(FAST)
    return storage


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


@pytest.fixture
def lease(storage: Storage) -> Json:
    """A lease that ends after one hour, and whose volumes are then frozen."""
    return storage.create(gibibytes=100, end_action="freeze")


@pytest.fixture
def volume(env: HttpEnv, storage: Storage, lease: Json) -> Volume:
    return env.cloud.create_volume("project", 10, storage.type_name())


def refused(env: HttpEnv, start: float | str, end: float) -> str:
    wish = env.wish(start, end, asked=asked(gibibytes=1))
    return refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)


class TestRequests:
    def test_the_answer_has_the_grace_period(self, storage: Storage) -> None:
        (frozen,) = storage.create(gibibytes=10, end_action="freeze")["reservations"]
        (plain,) = storage.create(gibibytes=10)["reservations"]

        assert (frozen["end_action"], frozen["freeze_grace_hours"]) == ("freeze", GRACE)
        assert (plain["end_action"], plain["freeze_grace_hours"]) == ("delete", None)

    def test_lessees_cannot_choose_it(self, storage: Storage) -> None:
        (frozen,) = storage.create(gibibytes=10, end_action="freeze", freeze_grace_hours=9999)["reservations"]

        assert frozen["freeze_grace_hours"] == GRACE

    def test_it_is_refused_if_the_operator_has_not_configured_it(
        self, engine: sa.Engine, tmp_path: Path
    ) -> None:
        storage = make_storage(engine, tmp_path)
        storage.register(FAST)

        wish = storage.env.wish(asked=asked(end_action="freeze"))

        assert "freeze_grace_hours" in refusal(storage.env.post("/leases", wish, who=LESSEE), 400)

    def test_a_change_of_the_option_does_not_change_leases(
        self, engine: sa.Engine, tmp_path: Path, env: HttpEnv, storage: Storage, lease: Json, volume: Volume
    ) -> None:
        other = VolumeSettings(freeze_grace_hours=1)
        plugin = type(env.context.plugins["virtual:volume"])(other)  # type: ignore[call-arg]
        env.context.plugins["virtual:volume"] = plugin  # type: ignore[index]

        env.change(lease, reservation={"gibibytes": 90, "end_action": "freeze"})

        assert env.lease(lease["id"])["reservations"][0]["freeze_grace_hours"] == GRACE

    def test_a_lease_at_the_end_of_time_is_possible(self, env: HttpEnv, storage: Storage) -> None:
        body = {**env.wish(asked=asked(end_action="freeze")), "end_date": "9999-12-31 23:59"}

        good(env.post("/leases", body, who=LESSEE), 201)


class TestBooking:
    """The capacity is not promised to other leases for a time in which it is held."""

    @pytest.mark.parametrize(("start", "end"), [(HOUR, 2 * HOUR), (10 * HOUR, 30 * HOUR)])
    def test_other_leases_cannot_start_in_the_grace_period(
        self, env: HttpEnv, storage: Storage, lease: Json, start: float, end: float
    ) -> None:
        assert "ot enough storage" in refused(env, start, end)

        storage.create((GRACE + 1) * HOUR, (GRACE + 2) * HOUR, gibibytes=100)

    def test_a_frozen_lease_needs_the_capacity_for_its_grace_period(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        storage.create(20 * HOUR, 30 * HOUR, gibibytes=100)
        wish = env.wish("now", HOUR, asked=asked(end_action="freeze"))

        refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)

        storage.create("now", HOUR)

    def test_the_search_for_free_times_knows_it(self, env: HttpEnv, storage: Storage, lease: Json) -> None:
        storage.create(60 * HOUR, 61 * HOUR, gibibytes=100)
        body = {
            "earliest_start": env.date(5),
            "latest_end": env.date(200 * HOUR),
            "duration_minutes": 20 * HOUR,
        }

        found = {
            action: good(
                env.post(
                    "/availability/search",
                    {**body, "reservations": [asked(gibibytes=100, end_action=action)]},
                    who=LESSEE,
                    headers=NEWER,
                )
            )["slots"][0]["start_date"]
            for action in ("delete", "freeze")
        }

        assert found == {"delete": env.date((GRACE + 1) * HOUR), "freeze": env.date(61 * HOUR)}

    def test_a_change_of_the_action_is_booked_or_refused(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create("now", HOUR, gibibytes=60)
        following = storage.create(2 * HOUR, 3 * HOUR, gibibytes=60)
        body = {"reservations": [{"id": lease["reservations"][0]["id"], "end_action": "freeze"}]}

        refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER), 409)
        assert env.lease(lease["id"])["reservations"][0]["end_action"] == "delete"
        env.change(following, end_date=env.date(2 * HOUR + 1))
        env.delete(f"/leases/{following['id']}", who=LESSEE)

        env.change(lease, reservation={"end_action": "freeze"})
        wish = env.wish(2 * HOUR, 3 * HOUR, asked=asked(gibibytes=60))
        refusal(env.post("/leases", wish, who=LESSEE, headers=NEWER), 409)
        env.change(lease, reservation={"end_action": "delete"})
        storage.create(2 * HOUR, 3 * HOUR, gibibytes=60)

    def test_an_extension_books_the_grace_period_after_the_new_end(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        storage.create((GRACE + 2) * HOUR, (GRACE + 3) * HOUR, gibibytes=100)

        env.change(lease, end_date=env.date(2 * HOUR))
        body = {"end_date": env.date(2 * HOUR + 1)}

        refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER), 409)

    def test_an_offer_holds_the_grace_period(self, env: HttpEnv, storage: Storage) -> None:
        wish = env.wish("now", HOUR, asked=asked(gibibytes=100, end_action="freeze"))
        offer = good(env.post("/offers", wish, who=LESSEE, headers=NEWER), 201)["offer"]
        refused(env, 2 * HOUR, 3 * HOUR)

        good(env.post("/leases", {"offer_id": offer["id"]}, who=LESSEE, headers=NEWER), 201)

        refused(env, 2 * HOUR, 3 * HOUR)
        storage.create((GRACE + 1) * HOUR, (GRACE + 2) * HOUR, gibibytes=100)

    def test_an_offer_of_a_change_holds_the_grace_period(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create("now", HOUR, gibibytes=100)
        changes = [{"id": lease["reservations"][0]["id"], "end_action": "freeze"}]
        path = f"/leases/{lease['id']}"
        body = {"reservations": changes}
        offer = good(env.post(f"{path}/offers", body, who=LESSEE, headers=NEWER), 201)["offer"]
        refused(env, 2 * HOUR, 3 * HOUR)

        good(env.put(path, {"offer_id": offer["id"]}, who=LESSEE, headers=NEWER))

        refused(env, 2 * HOUR, 3 * HOUR)
        assert env.lease(lease["id"])["reservations"][0]["end_action"] == "freeze"

    def test_a_pool_that_fails_is_replaced_for_the_grace_period_too(
        self, env: HttpEnv, storage: Storage
    ) -> None:
        storage.register(SLOW)
        lease = storage.create(HOUR // 2, 3 * HOUR, gibibytes=100, end_action="freeze")
        used = good(env.get(f"/leases/{lease['id']}/resources", who=LESSEE, headers=NEWER))
        env.cloud.remove_storage_pool(FAST if FAST in str(used) else SLOW)
        check_pools(env.context, "test")

        env.pass_time(20)

        refused(env, 5 * HOUR, 6 * HOUR)
        storage.create((GRACE + 3) * HOUR, (GRACE + 4) * HOUR, gibibytes=100)


class TestEnd:
    def test_volumes_are_kept_without_access_and_then_deleted(
        self, env: HttpEnv, storage: Storage, lease: Json, volume: Volume
    ) -> None:
        env.cloud.add_hypervisor("node")
        server = env.cloud.boot_server("s", "project", service_host="node")
        env.cloud.attach_volume(volume.id, server.id)

        env.pass_time(HOUR + 1)

        found = env.cloud.find_volume(volume.id)
        assert found is not None
        assert (found.status, found.attachments) == ("available", ())
        assert env.status(lease) == "TERMINATING"
        with pytest.raises(CloudNotFound):
            env.cloud.create_volume("project", 1, storage.type_name())
        shown = good(env.get(f"/leases/{lease['id']}", who=LESSEE, headers=NEWER))["lease"]
        assert shown["status_reason"] == (
            f"volumes are kept without access until {env.date((GRACE + 1) * HOUR)} UTC"
        )
        refused(env, "now", 2 * HOUR)
        env.pass_time((GRACE + 1) * HOUR - 1)
        assert env.cloud.find_volume(volume.id) is not None
        storage.end(lease, (GRACE + 1) * HOUR + 1)
        assert env.cloud.find_volume(volume.id) is None

    def test_the_next_lease_starts_when_the_grace_period_is_over(
        self, env: HttpEnv, storage: Storage, lease: Json, volume: Volume
    ) -> None:
        following = storage.create((GRACE + 1) * HOUR, (GRACE + 2) * HOUR, gibibytes=100)

        env.pass_time((GRACE + 1) * HOUR + 1)

        assert env.status(lease) == "TERMINATED"
        assert env.status(following) == "ACTIVE"

    def test_monitoring_counts_the_lease_as_waiting_only_after_the_grace_period(
        self, env: HttpEnv, lease: Json, volume: Volume
    ) -> None:
        def waiting() -> Mapping[str, Wait]:
            return SqlStats(env.engine).read(env.clock.now()).waiting

        env.pass_time(2 * HOUR)
        assert (env.status(lease), waiting()) == ("TERMINATING", {})

        with env.failing("block_storage.delete_volume"):
            env.pass_time((GRACE + 2) * HOUR)

        assert waiting().keys() == {"TERMINATING"}

    def test_without_volumes_the_capacity_is_free_at_once(
        self, env: HttpEnv, storage: Storage, lease: Json
    ) -> None:
        storage.end(lease)

        storage.create("now", 2 * HOUR, gibibytes=100)

    def test_the_owner_may_delete_the_volumes_earlier(
        self, env: HttpEnv, storage: Storage, lease: Json, volume: Volume
    ) -> None:
        env.pass_time(2 * HOUR)
        env.cloud.block_storage.delete_volume(volume.id)

        storage.end(lease, 2 * HOUR + 11)

        storage.create("now", 3 * HOUR, gibibytes=100)

    def test_a_volume_that_is_attached_again_is_detached_again(
        self, env: HttpEnv, lease: Json, volume: Volume
    ) -> None:
        env.cloud.add_hypervisor("node")
        server = env.cloud.boot_server("s", "project", service_host="node")
        env.pass_time(2 * HOUR)
        env.cloud.attach_volume(volume.id, server.id)

        env.pass_time(2 * HOUR + 11)

        found = env.cloud.find_volume(volume.id)
        assert found is not None
        assert found.attachments == ()

    def test_a_server_that_was_booted_from_the_volume_stays_until_it_is_deleted(
        self, env: HttpEnv, storage: Storage, lease: Json, volume: Volume
    ) -> None:
        env.cloud.add_hypervisor("node")
        server = env.cloud.boot_server("s", "project", service_host="node")
        env.cloud.attach_volume(volume.id, server.id, is_root=True)

        env.pass_time(3 * HOUR)
        assert [each.id for each in env.cloud.servers.list_servers()] == [server.id]

        storage.end(lease, (GRACE + 1) * HOUR + 1)
        assert env.cloud.servers.list_servers() == ()

    def test_a_transfer_or_a_group_does_not_take_the_volume_away(
        self, env: HttpEnv, storage: Storage, lease: Json, volume: Volume
    ) -> None:
        (made,) = storage.types()
        grouped = env.cloud.create_volume("project", 10, made.name)
        env.cloud.group_volumes("own", frozenset({made.id}), (grouped.id,))
        env.cloud.begin_transfer(volume.id)

        env.pass_time(2 * HOUR)

        assert env.cloud.block_storage.list_transfers() == {}
        storage.end(lease, (GRACE + 1) * HOUR + 1)

    def test_a_lease_that_is_deleted_freezes_from_then_on(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create("now", 10 * HOUR, gibibytes=100, end_action="freeze")
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.pass_time(HOUR)

        env.delete(f"/leases/{lease['id']}", who=LESSEE)
        env.pass_time(GRACE * HOUR + HOUR - 1)

        assert env.status(lease) == "DELETING"
        assert env.cloud.find_volume(volume.id) is not None
        storage.create(GRACE * HOUR + HOUR + 5, GRACE * HOUR + 5 * HOUR, gibibytes=100)
        env.pass_time(GRACE * HOUR + HOUR + 1)
        assert env.get(f"/leases/{lease['id']}").status_code == 404
        assert env.cloud.find_volume(volume.id) is None

    def test_a_lease_that_is_ended_early_freezes_from_then_on(self, env: HttpEnv, storage: Storage) -> None:
        lease = storage.create("now", 10 * HOUR, gibibytes=100, end_action="freeze")
        volume = env.cloud.create_volume("project", 10, storage.type_name())
        env.pass_time(HOUR)

        env.change(lease, end_date="now")
        storage.create((GRACE + 1) * HOUR + 1, (GRACE + 5) * HOUR, gibibytes=100)
        env.pass_time((GRACE + 1) * HOUR - 1)

        assert env.cloud.find_volume(volume.id) is not None
        storage.env.pass_time((GRACE + 1) * HOUR + 1)
        assert env.status(lease) == "TERMINATED"

    def test_managers_that_are_late_do_not_prolong_the_grace_period(
        self, env: HttpEnv, storage: Storage, lease: Json, volume: Volume
    ) -> None:
        env.clock.set(env.clock.now() + timedelta(hours=12))
        env.work()

        storage.end(lease, (GRACE + 1) * HOUR + 1)

        assert env.cloud.find_volume(volume.id) is None
