"""The fate of servers, volumes and addresses at the end, as it was recorded and is told to lessees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.conftest import EnvWith
from app.floatingips import Pool, address
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good
from app.networks import make_vlans
from app.retaining import snapshot, storage_that_retains
from app.storage import FAST, make_storage
from app.subscribing import Noticing, make_noticing, noticing_settings

from blazar.booking.results import MOST_NAMES, RESULT, record_results, result_text, results_of
from blazar.domain.lease import LeaseId, ReservationId
from blazar.plugins.contract import Done, Refused, Result, ResultKind, Waiting
from blazar.plugins.volumes.settings import VolumeSettings

SAVED, RELEASED, DELETED = ResultKind.SAVED, ResultKind.RELEASED, ResultKind.DELETED


@pytest.fixture
def noticing(env_with: EnvWith) -> Noticing:
    return make_noticing(env_with(noticing_settings()))


def recorded(env: HttpEnv, lease: Json) -> dict[str, list[str]]:
    """Return the names of what was saved, released and deleted."""
    found: dict[str, list[str]] = {}
    with env.context.store.read() as transaction:
        results = results_of(transaction, lease["id"])["results"]
    assert isinstance(results, list)
    for each in results:
        found.setdefault(each["kind"], []).extend(each["names"])
    return found


def history(env: HttpEnv, lease: Json) -> list[str]:
    found = good(env.get(f"/leases/{lease['id']}/history", who=LESSEE, headers=NEWER))["history"]
    return [each["text"] for each in found]


class TestHosts:
    def test_the_notice_of_the_end_names_images_and_servers(self, noticing: Noticing) -> None:
        noticing.subscribe(events=["lease.ended"])
        env = noticing.env
        lease = env.create("now", 120, before_end="snapshot", min=1, max=1)
        env.work()
        (host,) = env.members(lease)
        for name in ("web", "db"):
            env.cloud.boot_server(name, "project", service_host=host)
        env.cloud.boot_server("secret", "elsewhere", service_host=host)

        env.pass_time(121)

        (told,) = noticing.webhooks.received
        reservation_id = lease["reservations"][0]["id"]
        assert told.data["results"] == [
            {
                "reservation_id": reservation_id,
                "kind": "saved",
                "names": ["image reserved_web", "image reserved_db"],
            },
            {"reservation_id": reservation_id, "kind": "deleted", "names": ["server db", "server web"]},
        ]
        assert "secret" not in str(told.data)
        assert "Deleted: server db; server web." in history(env, lease)

    def test_a_deletion_names_servers_unless_the_end_has_done_so(self, noticing: Noticing) -> None:
        noticing.subscribe(events=["lease.deleted"])
        env = noticing.env
        deleted, ended, ahead = env.create("now", 60), env.create("now", 60), env.create(200, 260)
        env.work()
        for lease in (deleted, ended):
            (host,) = env.members(lease)
            env.cloud.boot_server(f"on-{host}", "project", service_host=host)

        good(env.delete(f"/leases/{deleted['id']}", who=LESSEE), 204)
        env.work()
        env.pass_time(61)
        for lease in (ended, ahead):
            good(env.delete(f"/leases/{lease['id']}", who=LESSEE), 204)
            noticing.wait(seconds=1)

        first, second, third = noticing.webhooks.received
        results = first.data["results"]
        assert isinstance(results, list)
        assert [(each["kind"], len(each["names"])) for each in results] == [("deleted", 1)]
        assert "results" not in second.data
        assert third.data["results"] == []

    def test_instances_are_named(self, env: HttpEnv) -> None:
        env.register("h1")
        asked = {
            "resource_type": "virtual:instance",
            "amount": 2,
            "vcpus": 1,
            "memory_mb": 100,
            "disk_gb": 1,
            "affinity": None,
            "resource_properties": "",
        }
        lease = env.create("now", 60, asked=asked)
        env.work()
        env.cloud.boot_server("worker", "project", flavor_id=lease["reservations"][0]["id"])

        env.pass_time(61)

        assert recorded(env, lease) == {"deleted": ["server worker"]}


def test_floating_ips_are_released(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    lease = env.create("now", 60, asked=pool.asked(2))
    env.pass_time(61)

    assert sorted(recorded(env, lease)["released"]) == [f"floating IP {address(each)}" for each in (1, 2)]


def test_networks_are_deleted(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> None:
    vlans = make_vlans(engine, tmp_path)
    vlans.register(201)
    lease = vlans.create()
    name = vlans.network().name

    vlans.env.pass_time(61)

    assert recorded(vlans.env, lease) == {"deleted": [f"network {name}"]}


class TestStorage:
    def test_volumes_that_were_moved_are_named_with_their_type(
        self, engine: sa.Engine, tmp_path: Path, failures: list[str]
    ) -> None:
        storage = storage_that_retains(engine, tmp_path, retain_wait_hours=1)
        lease = storage.create(gibibytes=100, end_action="retain")
        make = storage.env.cloud.create_volume
        _, stuck = (make("project", 10, storage.type_name(), name=each) for each in ("moved", "stuck"))
        snapshot(storage.env, stuck.id)

        storage.env.pass_time(90)
        assert recorded(storage.env, lease) == {"saved": ["volume moved, moved to volume type standard"]}
        storage.end(lease, 150)

        assert recorded(storage.env, lease) == {
            "saved": ["volume moved, moved to volume type standard"],
            "deleted": ["volume stuck"],
        }

    @pytest.mark.parametrize(("kind", "saved"), [("backup", ["backup reserved_v"]), ("snapshot", [])])
    def test_only_copies_that_outlive_their_volumes_count_as_saved(
        self, engine: sa.Engine, tmp_path: Path, failures: list[str], kind: str, saved: list[str]
    ) -> None:
        own = VolumeSettings(acts_in_projects=True, before_end_snapshot=kind)
        storage = make_storage(engine, tmp_path, own)
        storage.env.cloud.serve_project("project")
        storage.register(FAST)
        lease = storage.create(end=120, before_end="snapshot")
        storage.env.cloud.create_volume("project", 10, storage.type_name(), name="v")

        storage.end(lease, 121)

        found = recorded(storage.env, lease)
        assert (found.get("saved", []), found["deleted"]) == (saved, ["volume v"])


class TestRecords:
    @pytest.fixture
    def record(self, env: HttpEnv) -> Callable[..., dict[str, list[str]]]:
        def store(*results: Result) -> dict[str, list[str]]:
            with env.context.store.begin() as transaction:
                record_results(env.context, transaction, LeaseId("l"), {ReservationId("r"): results}, "m")
                transaction.commit()
            return recorded(env, {"id": "l"})

        return store

    def test_a_repeated_result_is_recorded_once(self, record: Callable[..., dict[str, list[str]]]) -> None:
        record(Result(DELETED, "server a"), Result(DELETED, "server a"))

        assert record(Result(DELETED, "server b"), Result(DELETED, "server a")) == {
            "deleted": ["server a", "server b"]
        }

    def test_what_was_deleted_later_is_not_saved(self, record: Callable[..., dict[str, list[str]]]) -> None:
        record(Result(SAVED, "volume a, moved to volume type t"), Result(SAVED, "volume ab"))

        assert record(Result(DELETED, "volume a")) == {"saved": ["volume ab"], "deleted": ["volume a"]}

    def test_very_many_are_counted(self, env: HttpEnv, record: Callable[..., dict[str, list[str]]]) -> None:
        some = [Result(DELETED, f"server {each}") for each in range(MOST_NAMES + 7)]

        found = record(*some)["deleted"]

        assert (len(found), found[-1]) == (MOST_NAMES + 1, "7 more")
        assert record(Result(DELETED, "server z"))["deleted"] == found

    def test_names_cannot_look_like_several_lines_or_objects(
        self, record: Callable[..., dict[str, list[str]]]
    ) -> None:
        assert record(Result(RELEASED, "server a; b\nc" + "x" * 500)) == {
            "released": [("server a, b c" + "x" * 500)[:100]]
        }

    def test_an_entry_that_cannot_be_read_is_no_sentence(self) -> None:
        assert result_text("deleted: server a; server b") == "Deleted: server a; server b."
        assert [result_text(each) for each in ("lost: server a", "deleted", "")] == [None] * 3
        assert RESULT == "reservation.result"


def test_results_do_not_distinguish_outcomes() -> None:
    result = Result(SAVED, "image a")

    assert Done() == Done((result,))
    assert Refused("r") == Refused("r", (result,))
    assert Waiting(None, "w") == Waiting(None, "w", (result,))  # type: ignore[arg-type]
