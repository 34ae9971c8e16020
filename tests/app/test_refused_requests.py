"""Records of refused requests, which planning reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest
from app.http_env import LESSEE, NEWER, STRANGER, HttpEnv, Json, Who, host_reservation
from app.slots import instances
from app.test_quotas import Table
from clocks import EPOCH

from blazar.db import refused_requests
from blazar.db.usage import SqlUsage
from blazar.domain.errors import Unavailable
from blazar.domain.lease import Lease
from blazar.plugins.hosts.spec import HostSpec

TOO_MANY = host_reservation(min=9, max=9)


def recorded(env: HttpEnv) -> Sequence[Lease]:
    with env.context.store.read() as transaction:
        return transaction.usage.list_refused(EPOCH)


def refuse(
    env: HttpEnv, *reservations: Json, start: float = 60, status: int = 409, who: Who = LESSEE, **more: object
) -> None:
    body = {**env.wish(start, start + 60), "reservations": list(reservations)}
    assert env.post("/leases", body, who=who, headers=NEWER, **more).status_code == status


def test_a_shortage_is_recorded_with_what_was_requested(env: HttpEnv) -> None:
    env.register("h1")

    refuse(env, TOO_MANY, instances(amount=2))

    (found,) = recorded(env)
    assert (found.project_id, found.created_at) == (LESSEE.project, env.clock.now())
    assert [each.resource_type for each in found.reservations] == ["physical:host", "virtual:instance"]
    spec = found.reservations[0].spec
    assert isinstance(spec, HostSpec)
    assert spec.maximum == 9
    assert found.end > found.start > env.clock.now()


def test_the_same_request_is_recorded_once_for_each_project(env: HttpEnv) -> None:
    env.register("h1")
    for _attempt in range(3):
        refuse(env, TOO_MANY)

    refuse(env, TOO_MANY, who=STRANGER)
    refuse(env, TOO_MANY, start=120)

    assert sorted(str(each.project_id) for each in recorded(env)) == sorted(
        [str(LESSEE.project), str(LESSEE.project), str(STRANGER.project)]
    )


def test_refusals_for_other_reasons_are_not_recorded(env: HttpEnv) -> None:
    env.register("h1")
    env.restart(replace(env.context, limits=Table({"reserved_hosts": 0})))

    refuse(env, host_reservation(min=1, max=1), status=403)
    refuse(env, host_reservation(min=0, max=1), status=400)
    refuse(env, TOO_MANY, params={"dry_run": "true"})

    assert recorded(env) == []


def test_a_project_cannot_fill_the_database(env: HttpEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    env.register("h1")
    monkeypatch.setattr(refused_requests, "MOST_A_DAY", 2)
    for hours in range(1, 5):
        refuse(env, TOO_MANY, start=60 * hours)
    refuse(env, TOO_MANY, start=60, who=STRANGER)

    assert [each.project_id for each in recorded(env)].count(LESSEE.project) == 2
    assert [each.project_id for each in recorded(env)].count(STRANGER.project) == 1

    env.pass_time(24 * 60 + 1)
    refuse(env, TOO_MANY, start=26 * 60)

    assert [each.project_id for each in recorded(env)].count(LESSEE.project) == 3


def test_a_long_request_is_refused_without_a_record(env: HttpEnv) -> None:
    env.register("h1", rack="r1")
    padded = {**TOO_MANY, "resource_properties": " " * 10_000 + '["==", "$rack", "r1"]'}

    refuse(env, padded, padded)
    assert recorded(env) == []

    refuse(env, padded)
    assert len(recorded(env)) == 1


def test_a_refused_request_takes_little_memory_and_only_for_an_hour(env: HttpEnv) -> None:
    env.register("h1", rack="r1")
    for hours in range(1, 4):
        padded = {**TOO_MANY, "resource_properties": " " * 10_000 + '["==", "$rack", "r1"]'}
        refuse(env, padded, padded, start=60 * hours)
    seen = env.context.recent_refusals._seen

    assert [len(each) for each in seen] == [32, 32, 32]

    env.pass_time(61)
    refuse(env, TOO_MANY, start=300)

    assert len(env.context.recent_refusals) == 1


def test_a_record_that_fails_does_not_change_the_answer(
    env: HttpEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.register("h1")

    def fail(*_arguments: object) -> bool:
        raise Unavailable("gone")

    monkeypatch.setattr(SqlUsage, "record_refused", fail)
    refuse(env, TOO_MANY)

    assert recorded(env) == []


def test_a_repeated_request_is_looked_up_once_an_hour(env: HttpEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    env.register("h1")
    looked_up = []
    record = SqlUsage.record_refused

    def note(self: SqlUsage, lease: Lease, now: datetime) -> bool:
        looked_up.append(now)
        return record(self, lease, now)

    monkeypatch.setattr(SqlUsage, "record_refused", note)
    for _attempt in range(3):
        refuse(env, TOO_MANY, start=240)
    assert len(looked_up) == 1

    env.pass_time(61)
    refuse(env, TOO_MANY, start=240)

    assert len(looked_up) == 2
    assert len(recorded(env)) == 1
