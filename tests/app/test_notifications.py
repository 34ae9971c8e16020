"""Notifications about leases: each event type with its complete payload."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from app.conftest import EnvWith
from app.floatingips import Pool
from app.http_env import HttpEnv
from app.monitoring import look, monitored, watched
from app.slots import instances

from blazar.booking import event_types

PAGE = (Path(__file__).parents[2] / "doc" / "reference" / "notifications.md").read_text()

PAYLOAD = {
    "lease_id",
    "name",
    "user_id",
    "project_id",
    "start_date",
    "trust_id",
    "end_date",
    "status",
    "degraded",
    "created_at",
    "updated_at",
    "reservations",
    "events",
}
"""The reference service's keys."""
RESERVATION = {
    "id",
    "lease_id",
    "resource_id",
    "resource_type",
    "status",
    "missing_resources",
    "resources_changed",
    "created_at",
    "updated_at",
}
OF_TYPE = {
    "physical:host": {"min", "max", "hypervisor_properties", "resource_properties", "before_end"},
}
EVENT = {"id", "lease_id", "event_type", "time", "status", "created_at", "updated_at"}

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")
STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def sent(env: HttpEnv, event_type: str) -> Mapping[str, Any]:
    """Return the payload of the last notification of a type."""
    env.work()
    payloads = [
        payload
        for kind, payload in zip(env.sent.event_types, env.sent.payloads, strict=True)
        if kind == event_type
    ]
    assert payloads, env.sent.event_types
    return payloads[-1]


def check(payload: Mapping[str, Any], lease: Mapping[str, Any], status: str) -> None:
    """Assert that a payload is complete and agrees with the API's lease at that time."""
    assert payload.keys() == PAYLOAD
    assert (payload["lease_id"], payload["status"]) == (lease["id"], status)
    for reservation in payload["reservations"]:
        assert reservation.keys() == RESERVATION | OF_TYPE["physical:host"]
        assert (reservation["lease_id"], reservation["resource_id"]) == (lease["id"], reservation["id"])
    assert {each["event_type"] for each in payload["events"]} == {
        "start_lease",
        "before_end_lease",
        "end_lease",
    }
    for event in payload["events"]:
        assert event.keys() == EVENT
        assert event["lease_id"] == lease["id"]
        assert INSTANT.fullmatch(event["time"])
    assert INSTANT.fullmatch(payload["start_date"])
    assert INSTANT.fullmatch(payload["end_date"])
    for stamped in (payload, *payload["reservations"]):
        assert STAMP.fullmatch(stamped["created_at"])
        assert STAMP.fullmatch(stamped["updated_at"])
    assert isinstance(payload["degraded"], bool)


def differing(payload: Mapping[str, Any], lease: Mapping[str, Any]) -> set[str]:
    """Return the keys in which a payload differs from the API."""
    shown = {"lease_id" if key == "id" else key: value for key, value in lease.items()}
    return {key for key in payload.keys() | shown.keys() if payload.get(key, ...) != shown.get(key, ...)}


@pytest.mark.usefixtures("hosts")
class TestTypesOfTheReference:
    def test_lease_create(self, env: HttpEnv) -> None:
        lease = env.create(10, 130)

        payload = sent(env, "lease.create")

        check(payload, lease, "PENDING")
        assert differing(payload, lease) == set()

    def test_lease_update(self, env: HttpEnv) -> None:
        lease = env.create(10, 130)

        changed = env.change(lease, end_date=env.date(140))
        payload = sent(env, "lease.update")

        check(payload, lease, "UPDATING")
        assert differing(payload, changed) == {"status"}
        assert payload["end_date"] == env.shown(140)

    def test_a_name_is_changed_without_notice(self, env: HttpEnv) -> None:
        lease = env.create(10, 130)

        env.change(lease, name="another")
        env.work()

        assert env.sent.event_types == ["lease.create"]

    def test_a_refused_change_is_no_change(self, env: HttpEnv) -> None:
        lease = env.create(10, 130)

        env.put(f"/leases/{lease['id']}", {"end_date": env.date(5)})
        env.work()

        assert env.sent.event_types == ["lease.create"]

    @pytest.mark.parametrize("start", [10, "now"])
    def test_lease_delete(self, env: HttpEnv, start: int | str) -> None:
        lease = env.create(start, 130)
        env.work()

        env.delete(f"/leases/{lease['id']}")

        check(sent(env, "lease.delete"), lease, "DELETING")

    def test_start_lease(self, env: HttpEnv) -> None:
        lease = env.create(10, 130)

        env.pass_time(10)
        payload = sent(env, "lease.event.start_lease")

        check(payload, lease, "ACTIVE")
        assert differing(payload, env.lease(lease["id"])) == set()
        assert payload["reservations"][0]["status"] == "active"

    def test_before_end_lease_also_where_no_snapshot_is_asked_for(self, env: HttpEnv) -> None:
        lease = env.create(10, 130)
        assert lease["reservations"][0]["before_end"] == "default"

        env.pass_time(70)
        payload = sent(env, "lease.event.before_end_lease")

        check(payload, lease, "ACTIVE")
        # The notification is sent before the action, which may take long or fail.
        assert differing(payload, env.lease(lease["id"])) == {"events"}
        statuses = {each["event_type"]: each["status"] for each in payload["events"]}
        assert statuses["before_end_lease"] == "IN_PROGRESS"

    def test_end_lease(self, env: HttpEnv) -> None:
        lease = env.create(10, 130)

        env.pass_time(130)
        payload = sent(env, "lease.event.end_lease")

        check(payload, lease, "TERMINATED")
        assert differing(payload, env.lease(lease["id"])) == set()

    def test_before_end_lease_stop(self, env: HttpEnv) -> None:
        lease = env.create(10, 130)
        env.pass_time(70)

        env.change(lease, end_date=env.date(200))
        payload = sent(env, "lease.event.before_end_lease.stop")

        check(payload, lease, "UPDATING")
        notice = next(each for each in payload["events"] if each["event_type"] == "before_end_lease")
        assert (notice["time"], notice["status"]) == (env.shown(140), "UNDONE")
        assert env.sent.event_types[-2:] == ["lease.event.before_end_lease.stop", "lease.update"]

    @pytest.mark.parametrize("minutes", [60, 129])
    def test_a_notice_that_was_not_given_or_stands_is_not_revoked(self, env: HttpEnv, minutes: int) -> None:
        lease = env.create(10, 130)
        env.pass_time(minutes)

        env.change(lease, end_date=env.date(131))
        env.work()

        assert "lease.event.before_end_lease.stop" not in env.sent.event_types


@pytest.mark.usefixtures("hosts")
class TestFurtherTypes:
    def test_lease_error(self, env: HttpEnv) -> None:
        lease = env.create("now", 130)

        with env.failing("compute.create_aggregate", status=403):
            payload = sent(env, "lease.error")

        check(payload, lease, "ERROR")
        assert payload["reservations"][0]["status"] == "error"
        assert env.sent.event_types == ["lease.create", "lease.event.start_lease", "lease.error"]
        assert sent(env, "lease.event.start_lease")["status"] == "ERROR"

    def test_a_lease_in_error_is_told_of_once(self, env: HttpEnv) -> None:
        env.create("now", 130)

        with env.failing("compute.create_aggregate", status=403):
            env.pass_time(30)

        assert env.sent.event_types.count("lease.error") == 1

    def test_a_lease_that_is_tried_again_in_vain_is_told_of_again(self, env: HttpEnv) -> None:
        lease = env.create("now", 130)

        with env.failing("compute.create_aggregate", status=403):
            env.work()
            env.change(lease, end_date=env.date(140))
            env.work()

        assert env.sent.event_types.count("lease.error") == 2


class TestTypesOfHealth:
    @pytest.fixture
    def env(self, env_with: EnvWith) -> HttpEnv:
        """Return an environment with two hosts that is checked only on request."""
        return watched(env_with(monitored(is_listening=True)))

    def test_lease_degraded_and_lease_healed(self, env: HttpEnv) -> None:
        lease = env.create("now", 130)
        env.work()
        (host,) = env.members(lease)
        other = next(iter({"h1", "h2"} - {host}))
        env.cloud.boot_server("s", "project", reservation_id=lease["reservations"][0]["id"])

        env.cloud.set_host_state(other, is_up=False, is_enabled=True)
        env.cloud.set_host_state(host, is_up=False, is_enabled=True)
        look(env)
        degraded = sent(env, "lease.degraded")
        env.cloud.set_host_state(host, is_up=True, is_enabled=True)
        look(env)
        healed = sent(env, "lease.healed")

        check(degraded, lease, "ACTIVE")
        check(healed, lease, "ACTIVE")
        assert (degraded["degraded"], healed["degraded"]) == (True, False)
        assert degraded["reservations"][0]["missing_resources"] is True
        assert healed["reservations"][0]["missing_resources"] is False


class TestTypesOfReservations:
    """Notifications show a reservation of each type as the API does."""

    @pytest.mark.usefixtures("hosts")
    def test_instances(self, env: HttpEnv) -> None:
        lease = env.create(10, 130, asked=instances())

        assert differing(sent(env, "lease.create"), lease) == set()

    def test_floating_ips(self, env: HttpEnv, pool: Pool) -> None:
        pool.register(1, 2)

        lease = env.create(10, 130, asked=pool.asked(1))

        assert differing(sent(env, "lease.create"), lease) == set()


class TestThePage:
    def test_it_lists_every_event_type_and_no_other(self) -> None:
        assert set(re.findall(r"^\| `(lease\.[a-z_.]+)` \|", PAGE, re.MULTILINE)) == set(event_types.ALL)

    def test_it_lists_every_key_of_a_payload_and_no_other(self) -> None:
        listed = re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE)

        assert set(listed) == PAYLOAD
        assert len(listed) == len(PAYLOAD)

    @pytest.mark.usefixtures("hosts")
    def test_its_sample_is_a_real_payload(self, env: HttpEnv) -> None:
        found = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
        assert found is not None
        sample = json.loads(found[1])
        env.create(10, 130)
        env.pass_time(10)

        payload = sent(env, "lease.event.start_lease")

        assert sample["event_type"] == "lease.event.start_lease"
        assert sample["publisher_id"] == "blazar.lease"
        check(sample["payload"], {"id": sample["payload"]["lease_id"]}, "ACTIVE")
        # It is the same, apart from IDs and times.
        assert _without_own(sample["payload"]) == _without_own(payload)


def _without_own(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_own(each)
            for key, each in value.items()
            if not (isinstance(each, str) and (INSTANT.fullmatch(each) or STAMP.fullmatch(each)))
            and key not in ("id", "lease_id", "resource_id", "name", "user_id", "project_id")
        }
    return [_without_own(each) for each in value] if isinstance(value, list) else value
