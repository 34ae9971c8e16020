"""Stored resources that plugins discover."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from clocks import EPOCH
from log import changes_after
from samples import HOUR, make_host
from statements import counted

from blazar.db.store import SqlStore
from blazar.domain.health import HEALTHY, Diagnosis, Health, ResourceState
from blazar.domain.plugin_resources import PluginResource
from blazar.plugins.hosts.store import HOST_STORE

FAILED = Diagnosis(health=Health.FAILED, problem="revoked")
POOL = PluginResource(
    collection="pool",
    name="site",
    facts={"product": "cad", "year": 2031, "is_new": True},
    amounts={"SEATS": 5},
)
OTHER = PluginResource(collection="box", name="site")


def put(store: SqlStore, *resources: PluginResource) -> None:
    with store.begin() as transaction:
        for each in resources:
            transaction.plugin_resources.put(each, EPOCH)
        transaction.commit()


def test_what_is_put_is_read_again(store: SqlStore) -> None:
    put(store, POOL, OTHER)

    with store.read() as transaction:
        assert transaction.plugin_resources.list() == (OTHER, POOL)
        assert transaction.plugin_resources.list("pool") == (POOL,)
        assert transaction.plugin_resources.get_many([POOL.id]) == (POOL,)
        assert transaction.plugin_resources.get_many([]) == ()
    assert POOL.id != OTHER.id


def test_a_description_is_replaced_and_the_health_stays(store: SqlStore) -> None:
    put(store, replace(POOL, diagnosis=FAILED))
    with store.read() as transaction:
        last = transaction.availability.last_change()

    put(store, replace(POOL, amounts={"SEATS": 7}, diagnosis=HEALTHY))

    with store.read() as transaction:
        (found,) = transaction.plugin_resources.list()
        assert (found.amounts, found.diagnosis, found.generation) == ({"SEATS": 7}, FAILED, 1)
        assert [each[1:] for each in changes_after(transaction, last)] == [(POOL.id, True)]


def test_a_search_knows_what_can_be_had_in_shares(store: SqlStore) -> None:
    put(store, POOL, OTHER)

    with store.read() as transaction:
        (pool,) = transaction.availability.read("pool", None)
        (box,) = transaction.availability.read("box", [OTHER.id])
        assert transaction.availability.all_generations("pool") == {POOL.id: 0}

    assert (dict(pool.facts), pool.size, pool.is_reservable) == (dict(POOL.facts), (5,), True)
    assert pool.providers[0].inventories["SEATS"].capacity == 5
    assert box.providers == ()


def test_its_facts_are_read_with_those_of_all_other_resources(store: SqlStore, engine: sa.Engine) -> None:
    put(store, replace(POOL, diagnosis=FAILED))
    with store.begin() as transaction:
        transaction.of(HOST_STORE).insert(make_host("1"))
        transaction.commit()

    with counted(engine) as statements, store.read() as transaction:
        states = transaction.resources.get_states([POOL.id, make_host("1").id])

    assert states[POOL.id] == ResourceState(facts=POOL.facts, diagnosis=FAILED)
    assert states[make_host("1").id].facts["service_name"] == "node-1"
    assert statements.count("SELECT") == 1


def test_what_is_deleted_is_gone_from_searches(store: SqlStore) -> None:
    put(store, POOL)

    with store.begin() as transaction:
        transaction.plugin_resources.delete(POOL.id, EPOCH + HOUR)
        transaction.commit()

    with store.read() as transaction:
        assert transaction.plugin_resources.list() == ()
        assert transaction.availability.generations([POOL.id]) == {}


@pytest.mark.parametrize("collection", ["host", "floatingip"])
def test_what_operators_register_is_not_in_stock(store: SqlStore, collection: str) -> None:
    with pytest.raises(ValueError, match=collection):
        put(store, replace(POOL, collection=collection))


def test_many_resources_are_added_with_their_properties_in_a_few_statements(
    store: SqlStore, engine: sa.Engine
) -> None:
    named = replace(POOL, properties=frozenset({"product", "year"}))
    many = [replace(named, name=f"site-{number}") for number in range(50)]
    with counted(engine) as statements, store.begin() as transaction:
        transaction.plugin_resources.insert_many(many, EPOCH)
        transaction.commit()

    assert statements.count("SELECT", "UPDATE", "INSERT") < 10
    with store.read() as transaction:
        found = transaction.plugin_resources.list("pool")
        searched = transaction.availability.read("pool", [many[0].id])
        properties = transaction.plugin_resources.list_properties("pool")
    assert {each.name: each.properties for each in found} == {each.name: each.properties for each in many}
    assert dict(searched[0].properties) == {"product": "cad", "year": 2031}
    assert [(each.name, each.is_private) for each in properties] == [("product", False), ("year", False)]


def test_a_private_property_stays_private_for_new_resources_and_other_collections(store: SqlStore) -> None:
    put(store, replace(POOL, properties=frozenset({"product"})), replace(OTHER, facts={"product": "x"}))
    with store.begin() as transaction:
        transaction.plugin_resources.set_property_private("pool", "product", True, EPOCH)
        transaction.plugin_resources.set_property_private("box", "product", True, EPOCH)
        transaction.commit()

    put(store, replace(POOL, name="second", properties=frozenset({"product", "year"})))

    with store.read() as transaction:
        assert transaction.plugin_resources.private_names() == {"product"}
        assert [each.name for each in transaction.plugin_resources.list_properties("pool")] == [
            "product",
            "year",
        ]
        (box,) = transaction.plugin_resources.list("box")
        assert box.properties == frozenset()
