"""Requests that wait for the reconciler: few at a time, so that others get threads of the API."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from app.http_env import LESSEE, HttpEnv, Json, Who, refusal

from blazar.booking.waits import MOST_WAITS, MOST_WAITS_OF_PROJECT
from blazar.ports.clock import Clock

PATIENCE = timedelta(seconds=30)
PROJECTS = [f"project-{number}" for number in range(MOST_WAITS + 2)]


@dataclass
class Crowd:
    """An environment's clock; while a request waits for the first time, the next one is sent."""

    clock: Clock
    requests: list[Callable[[], object]] = field(default_factory=list)
    pauses: list[timedelta] = field(default_factory=list)

    def now(self) -> datetime:
        return self.clock.now()

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        self.pauses.append(timeout)
        while self.requests:
            self.requests.pop(0)()
        return self.clock.wait(event, timeout)


@pytest.fixture
def crowd(env: HttpEnv) -> Crowd:
    """Return the clock of an environment in which DELETE and PUT wait."""
    env.register(*(f"h{number}" for number in range(len(PROJECTS) + 2)))
    crowd = Crowd(env.clock)
    leases = replace(env.settings.leases, delete_wait=PATIENCE, update_wait=PATIENCE)
    env.restart(replace(env.context, settings=replace(env.settings, leases=leases), clock=crowd))
    return crowd


def active(env: HttpEnv, who: Who) -> Json:
    lease = env.create("now", 60, who=who)
    env.work()
    return lease


class Deletions:
    """Deletes leases at the same time, and notes how long each request waited."""

    def __init__(self, env: HttpEnv, crowd: Crowd) -> None:
        self._env = env
        self._crowd = crowd
        self.waited: list[bool] = []

    def run(self, leases: list[Json]) -> list[bool]:
        """Return whether each request waited, in the order of the requests."""
        self.waited = [False] * len(leases)
        self._crowd.requests = [
            lambda number=number, lease=lease: self._delete(number, lease)  # type: ignore[misc]
            for number, lease in enumerate(leases)
        ]
        self._crowd.requests.pop(0)()
        assert self._crowd.requests == []
        return self.waited

    def _delete(self, number: int, lease: Json) -> None:
        pauses = len(self._crowd.pauses)
        assert self._env.delete(f"/leases/{lease['id']}").status_code == 204
        self.waited[number] = len(self._crowd.pauses) > pauses


def test_few_deletions_of_a_project_wait_at_the_same_time(env: HttpEnv, crowd: Crowd) -> None:
    leases = [active(env, LESSEE) for _ in range(MOST_WAITS_OF_PROJECT + 2)]

    waited = Deletions(env, crowd).run(leases)

    assert waited == [True] * MOST_WAITS_OF_PROJECT + [False] * 2
    assert {env.status(each) for each in leases} == {"DELETING"}
    env.work()
    assert all(env.get(f"/leases/{each['id']}").status_code == 404 for each in leases)


def test_few_deletions_of_all_projects_wait_at_the_same_time(env: HttpEnv, crowd: Crowd) -> None:
    leases = [active(env, replace(LESSEE, project=each)) for each in PROJECTS]

    assert Deletions(env, crowd).run(leases) == [True] * MOST_WAITS + [False] * 2


def test_a_request_that_has_waited_makes_room_for_another(env: HttpEnv, crowd: Crowd) -> None:
    leases = [active(env, LESSEE) for _ in range(MOST_WAITS_OF_PROJECT + 1)]

    assert all(Deletions(env, crowd).run([each]) == [True] for each in leases)


def test_a_lease_that_is_being_deleted_is_not_waited_for_again(env: HttpEnv, crowd: Crowd) -> None:
    lease = active(env, LESSEE)

    assert Deletions(env, crowd).run([lease, lease]) == [True, False]
    began = env.clock.now()
    assert env.delete(f"/leases/{lease['id']}").status_code == 204
    assert (env.clock.now(), env.status(lease)) == (began, "DELETING")


def test_a_change_beyond_the_limit_is_refused_as_after_its_wait(env: HttpEnv, crowd: Crowd) -> None:
    leases = [active(env, LESSEE) for _ in range(MOST_WAITS_OF_PROJECT)]
    starting = env.create("now", 60)
    with env.failing("compute.add_host"):
        env.work()
    path, body = f"/leases/{starting['id']}", {"end_date": env.date(90)}
    answers = []

    def change() -> None:
        began = env.clock.now()
        answers.append(env.put(path, body, who=LESSEE))
        assert env.clock.now() == began

    deletions = [lambda each=each: env.delete(f"/leases/{each['id']}") for each in leases]
    crowd.requests = [*deletions[1:], change]
    deletions[0]()
    began = env.clock.now()
    alone = env.put(path, body, who=LESSEE)

    (beyond,) = answers
    assert refusal(beyond, 409) == refusal(alone, 409)
    assert beyond.headers["Retry-After"] == alone.headers["Retry-After"]
    assert env.clock.now() - began == PATIENCE


def test_pauses_grow_while_a_request_waits(env: HttpEnv, crowd: Crowd) -> None:
    lease = active(env, LESSEE)
    began = env.clock.now()

    env.delete(f"/leases/{lease['id']}")

    *pauses, _ = crowd.pauses
    assert pauses == sorted(pauses)
    assert pauses[0] == timedelta(milliseconds=50)
    assert max(pauses) <= PATIENCE / 10
    assert 10 < len(pauses) < 60
    assert env.clock.now() - began == PATIENCE
