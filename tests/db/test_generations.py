"""A counter that guards a row never matches a later row of the same key."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from samples import HOUR, make_floatingip, make_host

from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import ResourceId
from blazar.domain.plugin_resources import PluginResource
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.store import Transaction

POOL = PluginResource(collection="pool", name="site")
FLOATING_IP = make_floatingip(1)
HOST = make_host("1")

Act = Callable[[Transaction], None]

KINDS: dict[str, tuple[ResourceId, Act, Act]] = {
    "host": (
        HOST.id,
        lambda tx: tx.of(HOST_STORE).insert(HOST),
        lambda tx: tx.of(HOST_STORE).delete(HOST.id),
    ),
    "floatingip": (
        FLOATING_IP.id,
        lambda tx: tx.of(FLOATING_IP_STORE).insert(FLOATING_IP),
        lambda tx: tx.of(FLOATING_IP_STORE).delete(FLOATING_IP.id),
    ),
    "stock": (
        POOL.id,
        lambda tx: tx.plugin_resources.put(POOL, EPOCH),
        lambda tx: tx.plugin_resources.delete(POOL.id, EPOCH),
    ),
}


@pytest.fixture
def store(engine: sa.Engine) -> SqlStore:
    """Return a store that numbers rows as in operation."""
    return SqlStore(engine, ManualClock(), {})


def do(store: SqlStore, act: Act) -> None:
    with store.begin() as transaction:
        act(transaction)
        transaction.commit()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("changes", [0, 1, 2])
def test_what_was_removed_and_registered_again_since_a_search_is_not_claimed(
    store: SqlStore, kind: str, changes: int
) -> None:
    resource_id, add, remove = KINDS[kind]
    do(store, add)
    for _ in range(changes):
        do(store, lambda tx: tx.allocations.touch([resource_id]))
    with store.read() as transaction:
        searched = transaction.availability.generations([resource_id])

    do(store, remove)
    do(store, add)
    for _ in range(4):
        with pytest.raises(ConcurrentUpdate):
            do(store, lambda tx: tx.allocations.claim(searched))
        do(store, lambda tx: tx.allocations.touch([resource_id]))


def test_a_claim_on_work_that_was_dropped_and_planned_again_is_void(store: SqlStore) -> None:
    do(store, lambda tx: tx.work.plan({"lease": EPOCH}))
    with store.begin() as transaction:
        (old,) = transaction.work.claim_due("one", EPOCH, EPOCH + HOUR, 1)
        transaction.commit()
    do(store, lambda tx: tx.work.finish(old, None, 0))
    do(store, lambda tx: tx.work.plan({"lease": EPOCH}))
    with store.begin() as transaction:
        (_,) = transaction.work.claim_due("other", EPOCH, EPOCH + HOUR, 1)
        transaction.commit()

    for act in (lambda tx: tx.work.keep(old), lambda tx: tx.work.finish(old, EPOCH, 0)):
        with pytest.raises(ConcurrentUpdate):
            do(store, act)
