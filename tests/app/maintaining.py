"""Maintenance of hosts: requests, and what leases hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from app.http_env import NEWER, HttpEnv, Json, good, refusal

from blazar.booking.maintenance import MAINTAIN
from blazar.ports.store import Store, Transaction


class ChangedBeforeWriting:
    """A store in which another request changes something before the next transaction that writes."""

    def __init__(self, store: Store, change: Callable[[], object]) -> None:
        self._store, self._changes, self.read = store, [change], store.read

    def begin(self) -> AbstractContextManager[Transaction]:
        if self._changes:
            self._changes.pop()()
        return self._store.begin()


def maintain(env: HttpEnv, *hosts: str, status: int = 201, params: Json | None = None, **keys: Any) -> Json:
    """Plan maintenance and return it."""
    body = {**({"resources": list(hosts)} if hosts else {}), **keys}
    answer = env.post("/maintenance", body, headers=NEWER, params=params)
    found: Json = good(answer, status)["maintenance"]
    return found


def refused(env: HttpEnv, **keys: Any) -> str:
    return refusal(env.post("/maintenance", keys, headers=NEWER), 400)


def named(resources: Sequence[Json]) -> list[str]:
    return [each["name"] for each in resources]


def held(env: HttpEnv, lease: Json) -> list[str]:
    """Return the names of the resources that a lease holds."""
    found = env.get(f"/leases/{lease['id']}/allocations", headers=NEWER)
    return sorted({each["name"] for each in good(found)["allocations"]})


def run_task(env: HttpEnv) -> None:
    """Run the periodic task now."""
    with env.context.store.begin() as transaction:
        transaction.work.schedule([MAINTAIN], env.clock.now())
        transaction.commit()
    env.work()


def rack(name: str) -> Json:
    return {"resource_properties": f'["==", "$rack", "{name}"]'}
