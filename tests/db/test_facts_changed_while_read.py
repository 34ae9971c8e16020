"""A claim is refused if facts on which it relies changed while a search read them, statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from samples import make_floatingip, make_host

from blazar.booking.index import AvailabilityIndex
from blazar.db.store import SqlStore
from blazar.domain.availability import Resource
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import ResourceId
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.providers import HostProvider, Inventory
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.store import Transaction

HOST = make_host("1")
FLOATING_IP = make_floatingip(1)
POOL = PluginResource(collection="pool", name="site")
MOST_STATEMENTS = 8
"""More than a search sends after a change of facts."""

Act = Callable[[Transaction, int], None]


def provider(number: int) -> HostProvider:
    return HostProvider(uuid="provider", name="node", inventories={"VCPU": Inventory(total=8 + number)})


def change_capability(transaction: Transaction, number: int) -> None:
    transaction.allocations.touch([HOST.id])
    transaction.of(HOST_STORE).set_capabilities(HOST.id, {"rack": f"r{number}"}, EPOCH)


def change_providers(transaction: Transaction, number: int) -> None:
    transaction.allocations.touch([HOST.id])
    transaction.of(HOST_STORE).update(replace(HOST, providers=(provider(number),)), {}, EPOCH)


def register_address_again(transaction: Transaction, number: int) -> None:
    transaction.of(FLOATING_IP_STORE).delete(FLOATING_IP.id)
    transaction.of(FLOATING_IP_STORE).insert(replace(FLOATING_IP, subnet_id=f"subnet-{number}"))


def put(transaction: Transaction, number: int) -> None:
    transaction.plugin_resources.put(replace(POOL, facts={"year": number, f"is_{number}": True}), EPOCH)


CHANGES: dict[str, tuple[str, ResourceId, Act]] = {
    "capability": ("host", HOST.id, change_capability),
    "providers": ("host", HOST.id, change_providers),
    "address": ("floatingip", FLOATING_IP.id, register_address_again),
    "stock": (POOL.collection, POOL.id, put),
}


@pytest.fixture
def store(engine: sa.Engine) -> SqlStore:
    """Return a store with a resource of each kind, which numbers rows as in operation."""
    store = SqlStore(engine, ManualClock(), {})
    with store.begin() as transaction:
        transaction.of(HOST_STORE).insert(HOST)
        transaction.of(FLOATING_IP_STORE).insert(FLOATING_IP)
        transaction.plugin_resources.put(POOL, EPOCH)
        transaction.commit()
    return store


@contextmanager
def before_statement(engine: sa.Engine, number: int, act: Callable[[], None]) -> Iterator[None]:
    """Act once, before the SELECT with this number is executed."""
    left = [number]

    def count(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        left[0] -= statement.startswith("SELECT")
        if left[0] == 0:
            left[0] = -1
            act()

    sa.event.listen(engine, "before_cursor_execute", count)
    try:
        yield
    finally:
        sa.event.remove(engine, "before_cursor_execute", count)


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("number", range(1, MOST_STATEMENTS + 1))
def test_a_claim_on_facts_that_changed_while_they_were_read_is_refused(
    store: SqlStore, engine: sa.Engine, kind: str, number: int
) -> None:
    collection, resource_id, act = CHANGES[kind]
    index = AvailabilityIndex(store, ManualClock(), collection)

    def change(value: int) -> None:
        with store.begin() as transaction:
            act(transaction, value)
            transaction.commit()

    with index.searching():
        pass
    change(1)
    with before_statement(engine, number, lambda: change(2)), index.searching() as view:
        found = view.get(resource_id)

    assert found is not None
    if found != read(store, collection, resource_id):
        with store.begin() as transaction, pytest.raises(ConcurrentUpdate):
            transaction.allocations.claim({resource_id: found.generation})


def test_a_host_is_found_with_the_generation_of_its_capabilities(store: SqlStore, engine: sa.Engine) -> None:
    def change() -> None:
        with store.begin() as transaction:
            change_capability(transaction, 1)
            transaction.commit()

    with before_statement(engine, 2, change), store.read(of_one_instant=False) as transaction:
        found = transaction.of(HOST_STORE).find(HOST.id)

    present = read(store, "host", HOST.id)
    assert found is not None
    assert found.generation == present.generation - 1


def read(store: SqlStore, collection: str, resource_id: ResourceId) -> Resource:
    with store.read() as transaction:
        (found,) = transaction.availability.read(collection, [resource_id])
    return found
