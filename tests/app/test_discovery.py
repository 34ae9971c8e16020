"""Discovery: resources that plugins find in the cloud, and the effect on leases that hold them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.http_env import HttpEnv, Json, refusal
from app.shelves import THING, Shelf, out_of_order, thing, with_shelf
from samples import know_a_lease

from blazar.app.leases import read_lease
from blazar.booking.usage import usage_of
from blazar.cmd.manage import discovery
from blazar.domain.errors import CloudError, CloudUnavailable
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.lease import ReservationId
from blazar.domain.plugin_resources import PluginResource
from blazar.plugins.slots.names import flavor_name
from blazar.ports.compute import Flavor
from blazar.reconcile.periodic.discovery import discover_resources
from blazar.reconcile.periodic.tasks import DISCOVER, periodic_tasks
from blazar.reconcile.sweep import sweep

DISABLED = Diagnosis(health=Health.DISABLED, problem="kept for the fair")
FAILED = Diagnosis(health=Health.FAILED, problem="it fell down")
MISSING_ID = ReservationId("11111111-2222-4333-8444-555555555555")


def known(env: HttpEnv) -> dict[str, PluginResource]:
    """Return the stored resources, by name."""
    with env.context.store.read() as transaction:
        return {each.name: each for each in transaction.plugin_resources.list("shelf")}


def held(env: HttpEnv, lease: Json) -> list[str]:
    """Return the names of the resources that a lease holds."""
    (reservation,) = lease["reservations"]
    names = {each.id: name for name, each in known(env).items()}
    with env.context.store.read() as transaction:
        found = transaction.allocations.of_reservations([reservation["id"]])
    return [names[each.resource_id] for each in found]


def take(env: HttpEnv, shelf: Shelf, *things: PluginResource) -> tuple[str, ...]:
    """Put these things on the shelf, run discovery, and return the names of changed resources."""
    shelf.things = list(things)
    return discover_resources(env.context, "operator").changed


@pytest.fixture
def shelf(env: HttpEnv) -> Shelf:
    """Return a shelf with two discovered things."""
    found = Shelf(thing("a"), thing("b"))
    with_shelf(env, found)
    discover_resources(env.context, "operator")
    return found


def test_what_is_in_stock_can_be_reserved(env: HttpEnv, shelf: Shelf) -> None:
    leases = [env.create("now", 60, asked=dict(THING)) for _ in range(2)]
    env.work()

    refused = refusal(env.post("/leases", env.wish(30, 90, asked=dict(THING))), 409)

    assert refused == "The shelf is empty"
    assert sorted(name for each in leases for name in held(env, each)) == ["a", "b"]
    assert [env.status(each) for each in leases] == ["ACTIVE", "ACTIVE"]
    assert env.create(60, 90, asked=dict(THING))["status"] == "PENDING"


def test_what_did_not_change_is_left_alone(env: HttpEnv, shelf: Shelf) -> None:
    before = env.snapshot()

    assert discover_resources(env.context, "operator").changed == ()

    assert env.snapshot() == before


def test_another_description_is_written_down_and_what_others_know_of_it_is_void(
    env: HttpEnv, shelf: Shelf
) -> None:
    before = known(env)["a"].generation

    changed = take(env, shelf, thing("a", facts={"weight": 3}, amounts={"PIECES": 5}), thing("b"))

    assert changed == ("shelf:a",)
    assert known(env)["a"] == thing("a", facts={"weight": 3}, amounts={"PIECES": 5})
    assert known(env)["a"].generation != before


def test_what_comes_back_is_the_same_resource(env: HttpEnv, shelf: Shelf) -> None:
    before = known(env)["a"].id

    assert take(env, shelf, thing("b")) == ("shelf:a",)
    assert known(env).keys() == {"b"}
    assert take(env, shelf, thing("a"), thing("b")) == ("shelf:a",)

    assert known(env)["a"].id == before


def test_a_disabled_resource_is_not_allocated_to_new_leases(env: HttpEnv, shelf: Shelf) -> None:
    lease = env.create(10, 60, asked=dict(THING))

    take(env, shelf, *(thing(name, diagnosis=DISABLED) for name in "ab"))
    env.pass_time(11)

    assert env.status(lease) == "ACTIVE"
    refusal(env.post("/leases", env.wish(70, 90, asked=dict(THING))), 409)
    assert known(env)["a"].diagnosis == DISABLED


def test_who_holds_what_has_failed_is_given_something_else(env: HttpEnv, shelf: Shelf) -> None:
    lease = env.create(10, 60, asked=dict(THING))
    (before,) = held(env, lease)

    take(env, shelf, *(thing(name, diagnosis=FAILED if name == before else HEALTHY) for name in "ab"))
    env.work()

    assert held(env, lease) == sorted({"a", "b"} - {before})


def test_a_missing_resource_has_failed_until_its_lease_releases_it(env: HttpEnv, shelf: Shelf) -> None:
    lease = env.create(10, 60, asked=dict(THING))
    (before,) = held(env, lease)
    (other,) = {"a", "b"} - {before}

    take(env, shelf, thing(other))

    assert known(env)[before].diagnosis.has_failed
    env.work()
    assert held(env, lease) == [other]
    assert take(env, shelf, thing(other)) == (f"shelf:{before}",)
    assert known(env).keys() == {other}


def test_what_comes_into_stock_heals_who_misses_something(env: HttpEnv, shelf: Shelf) -> None:
    lease = env.create(10, 60, asked=dict(THING))
    take(env, shelf)
    env.work()
    assert env.lease(lease["id"])["degraded"]

    take(env, shelf, thing("c"))
    env.work()

    assert held(env, lease) == ["c"]
    assert not env.lease(lease["id"])["degraded"]


def test_a_plugin_that_cannot_look_leaves_its_stock_as_it_is_and_others_go_on(
    env: HttpEnv, shelf: Shelf
) -> None:
    other = Shelf(thing("z"))
    other.resource_type, other.collection = "other", "a"  # type: ignore[misc]
    with_shelf(env, shelf, other=other)
    other.problem = out_of_order()
    shelf.things = [thing("a")]

    with pytest.raises(CloudError, match="the keys"):
        discover_resources(env.context, "operator")

    assert known(env).keys() == {"a"}


@pytest.mark.parametrize("fault", [thing(""), thing("x" * 256), PluginResource(collection="host", name="h")])
def test_a_faulty_plugin_leaves_its_stock_as_it_is(
    engine: sa.Engine, tmp_path: Path, fault: PluginResource
) -> None:
    env = HttpEnv(engine, tmp_path)  # Unlike the fixture, this environment may log errors.
    shelf = Shelf(thing("a"))
    with_shelf(env, shelf)
    discover_resources(env.context, "operator")
    shelf.things = [thing("b"), fault]

    with pytest.raises(CloudError, match="ValueError"):
        discover_resources(env.context, "operator")

    assert known(env).keys() == {"a"}


def test_a_discovered_resource_cannot_be_of_a_registered_kind(env: HttpEnv) -> None:
    with pytest.raises(ValueError, match="operators register"), env.context.store.begin() as transaction:
        transaction.plugin_resources.put(PluginResource(collection="host", name="h"), env.clock.now())


def test_managers_take_stock_when_they_start_and_from_time_to_time(env: HttpEnv) -> None:
    shelf = Shelf(thing("a"))
    with_shelf(env, shelf)
    env.reconciler.plan_periodic_tasks()
    env.work()
    assert known(env).keys() == {"a"}

    shelf.things = [thing("a"), thing("b")]
    env.pass_time(4)
    assert known(env).keys() == {"a"}
    env.pass_time(6)
    assert known(env).keys() == {"a", "b"}
    assert periodic_tasks(env.settings, env.context.collections)[DISCOVER].is_enabled


def test_a_plugin_that_cannot_look_yet_is_asked_again_soon(env: HttpEnv) -> None:
    shelf = Shelf(thing("a"))
    with_shelf(env, shelf)
    shelf.problem = CloudUnavailable("not started yet")
    env.reconciler.plan_periodic_tasks()
    env.work()
    assert known(env) == {}

    shelf.problem = None
    env.pass_time(2)

    assert known(env).keys() == {"a"}


def test_what_a_lease_holds_is_shown_to_the_operators_filters(env: HttpEnv, shelf: Shelf) -> None:
    take(env, shelf, thing("a", facts={"weight": 3}))
    shown = env.create("now", 60, asked=dict(THING))
    lease = read_lease(env.context, shown["id"])
    (reservation,) = lease.reservations

    usage = usage_of(env.context, lease, {reservation.id: {known(env)["a"].id: None}}, status=lease.status)

    reservations = usage.document["reservations"]
    assert isinstance(reservations, list)
    assert reservations[0]["allocations"] == [{"id": known(env)["a"].id, "name": "a", "weight": 3}]


def test_a_plugin_finds_what_its_reservations_left_behind(env: HttpEnv, shelf: Shelf) -> None:
    know_a_lease(env.context.store)
    shelf.leftovers = {"lost": MISSING_ID, "foreign": ReservationId("not ours")}

    first = sweep(env.context, "manager")
    env.clock.advance(env.settings.reconciler.sweep_interval)
    second = sweep(env.context, "manager")

    assert first.found == second.found == second.removed == ("left:lost",)
    assert shelf.leftovers.keys() == {"foreign"}


def test_a_plugin_that_cannot_look_does_not_stop_the_sweep(env: HttpEnv, shelf: Shelf) -> None:
    shelf.problem = out_of_order()

    assert sweep(env.context, "manager").found == ()


def test_a_service_that_does_not_answer_delays_only_its_own_leftovers(env: HttpEnv, shelf: Shelf) -> None:
    know_a_lease(env.context.store)
    flavor = Flavor(id=MISSING_ID, name=flavor_name(MISSING_ID), vcpus=1, memory_mb=1, disk_gb=0)
    env.cloud.flavors.create_flavor(flavor)
    shelf.leftovers = {"lost": MISSING_ID}
    shelf.problem = CloudUnavailable("no answer")

    for _ in range(2):
        with pytest.raises(CloudUnavailable, match="no answer"):
            sweep(env.context, "manager")
        env.clock.advance(env.settings.reconciler.sweep_interval)

    assert env.cloud.flavors.list_flavors() == ()
    assert shelf.leftovers.keys() == {"lost"}


def test_an_operator_sees_what_is_in_stock(
    env: HttpEnv, shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.things = [thing("a", diagnosis=DISABLED), thing("c", amounts={"PIECES": 5, "BOXES": 1})]

    assert discovery.run(env.context, Namespace()) == 0
    assert discovery.list_discovered(env.context, Namespace()) == 0

    assert capsys.readouterr().out.splitlines() == [
        "shelf:a",
        "shelf:b",
        "shelf:c",
        "2 resources were discovered, 3 have changed",
        "shelf a (as a whole) is disabled: kept for the fair",
        "shelf c (1 BOXES, 5 PIECES) is sound",
    ]
