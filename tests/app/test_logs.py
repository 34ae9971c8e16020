"""Managers' log lines name the request, the lease and the reservation that they are about."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from app.http_env import LESSEE, HttpEnv
from app.usage import Oracle, ask_service, serving
from oslo_context import context as oslo
from telemetry.counting import Counts
from telemetry.listening import Line, listening

from blazar.domain.errors import Unavailable
from blazar.manager.instrumentation import instrumented
from blazar.reconcile.outbox import OutboxSender


@pytest.fixture
def followed(env: HttpEnv, hosts: list[str]) -> HttpEnv:
    """Return an environment with four hosts whose log lines carry their context."""
    env.restart(instrumented(env.context, Counts()))
    return env


def said(lines: list[Line], name: str) -> list[dict[str, Any]]:
    """Return the context of each log line of one module."""
    found = [each.about for each in lines if each.name == name]
    assert found
    return found


def test_a_line_of_a_look_bears_the_lease(followed: HttpEnv) -> None:
    lease = followed.create("now", 130, before_end="snapshot")
    followed.work()
    followed.cloud.boot_server("s", "project", reservation_id=lease["reservations"][0]["id"])

    with listening() as lines, followed.failing("compute.create_image", status=403):
        followed.pass_time(70)

    for each in said(lines, "blazar.reconcile.before_end"):
        assert each["lease_id"] == lease["id"]
        assert each["request_id"].startswith("req-")
    assert oslo.get_current() is None


def test_a_line_about_a_reservation_bears_that_too(followed: HttpEnv) -> None:
    lease = followed.create("now", 130, min=4, max=4)
    busy = next(each for each in followed.cloud.hypervisors.list_hypervisors())
    followed.cloud.boot_server("s", "project", service_host=busy.service_host)

    with listening() as lines:
        followed.work()

    for each in said(lines, "blazar.reconcile.replacing"):
        assert each["lease_id"] == lease["id"]
        assert each["reservation_id"] == lease["reservations"][0]["id"]


def test_every_look_at_a_lease_can_be_told_from_the_others(followed: HttpEnv) -> None:
    followed.create("now", 130, before_end="snapshot", min=4, max=4)
    busy = next(each for each in followed.cloud.hypervisors.list_hypervisors())
    followed.cloud.boot_server("s", "project", service_host=busy.service_host)

    with listening() as lines:
        followed.work()
        followed.clock.advance(timedelta(minutes=5))
        followed.work()

    assert len({each["request_id"] for each in said(lines, "blazar.reconcile.replacing")}) > 1


def test_a_line_about_a_message_bears_the_lease_that_it_is_of(followed: HttpEnv) -> None:
    class Deaf:
        def notify(self, event_type: str, payload: object) -> None:
            raise Unavailable("no listener")

    lease = followed.create(10, 130)
    context = followed.context
    sender = OutboxSender(context.store, context.clock, Deaf(), {}, context.log_context)

    with listening() as lines:
        sender.send_due()

    assert [each["lease_id"] for each in said(lines, "blazar.reconcile.outbox")] == [lease["id"]]


def test_a_new_lease_is_known_to_the_lines_of_the_request_that_makes_it(followed: HttpEnv) -> None:
    oracle = Oracle()
    with serving(oracle) as url:
        ask_service(followed, url, allow_on_error=True)
        followed.restart(instrumented(followed.context, Counts()))
        oracle.status = 500
        with listening() as lines:
            lease = followed.create(10, 60)

    for each in said(lines, "blazar.enforcement.external"):
        assert each["lease_id"] == lease["id"]
        assert each["user_id"] == LESSEE.user


def test_another_service_is_told_the_id_of_the_request(followed: HttpEnv) -> None:
    oracle = Oracle()
    with serving(oracle) as url:
        ask_service(followed, url)
        sent = "req-6a0c1f0e-9999-4222-8333-0123456789ab"
        body = followed.wish(10, 60)
        followed.post("/leases", body, who=LESSEE, headers={"X-Openstack-Request-Id": sent})

    assert {each.headers["HTTP_X_OPENSTACK_REQUEST_ID"] for each in oracle.asked} == {sent}


def test_weakness_30_no_key_to_another_service_and_no_token_is_logged(followed: HttpEnv) -> None:
    oracle = Oracle()
    with serving(oracle) as url, listening(None) as lines:
        ask_service(followed, url)
        followed.post("/leases", followed.wish(10, 60), headers={"X-Auth-Token": "the lessee's token"})
        oracle.status = 500
        followed.post("/leases", followed.wish(10, 60), headers={"X-Auth-Token": "the lessee's token"})

    logged = "\n".join(f"{each.text} {each.about}" for each in lines)
    assert "check-create" in logged
    assert "key to the service" not in logged
    assert "the lessee's token" not in logged
