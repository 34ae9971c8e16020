"""Discovery: resources that plugins find by themselves, and the effect on leases that hold them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.shelves import THING, Shelf, out_of_order, thing, with_shelf
from app.world import Json, World, refusal
from samples import know_a_lease

from blazar.app.leases import read_lease
from blazar.booking.usage import usage_of
from blazar.cmd.manage import discovery
from blazar.domain.discovered import DiscoveredResource
from blazar.domain.errors import CloudError, CloudUnavailable
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.lease import ReservationId
from blazar.plugins.slots.names import flavor_name
from blazar.ports.compute import Flavor
from blazar.reconcile.periodic.discovery import discover_resources
from blazar.reconcile.periodic.tasks import DISCOVER, periodic_tasks
from blazar.reconcile.sweep import sweep

DISABLED = Diagnosis(health=Health.DISABLED, problem="kept for the fair")
FAILED = Diagnosis(health=Health.FAILED, problem="it fell down")
MISSING_ID = ReservationId("11111111-2222-4333-8444-555555555555")


def known(world: World) -> dict[str, DiscoveredResource]:
    """Return the stored resources, by name."""
    with world.context.store.read() as transaction:
        return {each.name: each for each in transaction.discovered.list("shelf")}


def held(world: World, lease: Json) -> list[str]:
    """Return the names of the resources that a lease holds."""
    (reservation,) = lease["reservations"]
    names = {each.id: name for name, each in known(world).items()}
    with world.context.store.read() as transaction:
        found = transaction.allocations.of_reservations([reservation["id"]])
    return [names[each.resource_id] for each in found]


def take(world: World, shelf: Shelf, *things: DiscoveredResource) -> tuple[str, ...]:
    """Put these things on the shelf, run discovery, and return the names of changed resources."""
    shelf.things = list(things)
    return discover_resources(world.context, "operator").changed


@pytest.fixture
def shelf(world: World) -> Shelf:
    """Return a shelf with two discovered things."""
    found = Shelf(thing("a"), thing("b"))
    with_shelf(world, found)
    discover_resources(world.context, "operator")
    return found


def test_what_is_in_stock_can_be_reserved(world: World, shelf: Shelf) -> None:
    leases = [world.create("now", 60, asked=dict(THING)) for _ in range(2)]
    world.work()

    refused = refusal(world.post("/leases", world.wish(30, 90, asked=dict(THING))), 409)

    assert refused == "The shelf is empty"
    assert sorted(name for each in leases for name in held(world, each)) == ["a", "b"]
    assert [world.status(each) for each in leases] == ["ACTIVE", "ACTIVE"]
    assert world.create(60, 90, asked=dict(THING))["status"] == "PENDING"


def test_what_did_not_change_is_left_alone(world: World, shelf: Shelf) -> None:
    before = world.snapshot()

    assert discover_resources(world.context, "operator").changed == ()

    assert world.snapshot() == before


def test_another_description_is_written_down_and_what_others_know_of_it_is_void(
    world: World, shelf: Shelf
) -> None:
    before = known(world)["a"].generation

    changed = take(world, shelf, thing("a", facts={"weight": 3}, amounts={"PIECES": 5}), thing("b"))

    assert changed == ("shelf:a",)
    assert known(world)["a"] == thing("a", facts={"weight": 3}, amounts={"PIECES": 5})
    assert known(world)["a"].generation != before


def test_what_comes_back_is_the_same_resource(world: World, shelf: Shelf) -> None:
    before = known(world)["a"].id

    assert take(world, shelf, thing("b")) == ("shelf:a",)
    assert known(world).keys() == {"b"}
    assert take(world, shelf, thing("a"), thing("b")) == ("shelf:a",)

    assert known(world)["a"].id == before


def test_a_disabled_resource_is_not_allocated_to_new_leases(world: World, shelf: Shelf) -> None:
    lease = world.create(10, 60, asked=dict(THING))

    take(world, shelf, *(thing(name, diagnosis=DISABLED) for name in "ab"))
    world.pass_time(11)

    assert world.status(lease) == "ACTIVE"
    refusal(world.post("/leases", world.wish(70, 90, asked=dict(THING))), 409)
    assert known(world)["a"].diagnosis == DISABLED


def test_who_holds_what_has_failed_is_given_something_else(world: World, shelf: Shelf) -> None:
    lease = world.create(10, 60, asked=dict(THING))
    (before,) = held(world, lease)

    take(world, shelf, *(thing(name, diagnosis=FAILED if name == before else HEALTHY) for name in "ab"))
    world.work()

    assert held(world, lease) == sorted({"a", "b"} - {before})


def test_a_missing_resource_has_failed_until_its_lease_releases_it(world: World, shelf: Shelf) -> None:
    lease = world.create(10, 60, asked=dict(THING))
    (before,) = held(world, lease)
    (other,) = {"a", "b"} - {before}

    take(world, shelf, thing(other))

    assert known(world)[before].diagnosis.has_failed
    world.work()
    assert held(world, lease) == [other]
    assert take(world, shelf, thing(other)) == (f"shelf:{before}",)
    assert known(world).keys() == {other}


def test_what_comes_into_stock_heals_who_misses_something(world: World, shelf: Shelf) -> None:
    lease = world.create(10, 60, asked=dict(THING))
    take(world, shelf)
    world.work()
    assert world.lease(lease["id"])["degraded"]

    take(world, shelf, thing("c"))
    world.work()

    assert held(world, lease) == ["c"]
    assert not world.lease(lease["id"])["degraded"]


def test_a_plugin_that_cannot_look_leaves_its_stock_as_it_is_and_others_go_on(
    world: World, shelf: Shelf
) -> None:
    other = Shelf(thing("z"))
    other.resource_type, other.collection = "other", "a"  # type: ignore[misc]
    with_shelf(world, shelf, other=other)
    other.problem = out_of_order()
    shelf.things = [thing("a")]

    with pytest.raises(CloudError, match="the keys"):
        discover_resources(world.context, "operator")

    assert known(world).keys() == {"a"}


@pytest.mark.parametrize(
    "fault", [thing(""), thing("x" * 256), DiscoveredResource(collection="host", name="h")]
)
def test_a_faulty_plugin_leaves_its_stock_as_it_is(
    engine: sa.Engine, tmp_path: Path, fault: DiscoveredResource
) -> None:
    world = World(engine, tmp_path)  # Unlike the fixture, this world may log errors.
    shelf = Shelf(thing("a"))
    with_shelf(world, shelf)
    discover_resources(world.context, "operator")
    shelf.things = [thing("b"), fault]

    with pytest.raises(CloudError, match="ValueError"):
        discover_resources(world.context, "operator")

    assert known(world).keys() == {"a"}


def test_a_discovered_resource_cannot_be_of_a_registered_kind(world: World) -> None:
    with pytest.raises(ValueError, match="operators register"), world.context.store.begin() as transaction:
        transaction.discovered.put(DiscoveredResource(collection="host", name="h"), world.clock.now())


def test_managers_take_stock_when_they_start_and_from_time_to_time(world: World) -> None:
    shelf = Shelf(thing("a"))
    with_shelf(world, shelf)
    world.reconciler.plan_chores()
    world.work()
    assert known(world).keys() == {"a"}

    shelf.things = [thing("a"), thing("b")]
    world.pass_time(4)
    assert known(world).keys() == {"a"}
    world.pass_time(6)
    assert known(world).keys() == {"a", "b"}
    assert periodic_tasks(world.settings)[DISCOVER].is_enabled


def test_a_plugin_that_cannot_look_yet_is_asked_again_soon(world: World) -> None:
    shelf = Shelf(thing("a"))
    with_shelf(world, shelf)
    shelf.problem = CloudUnavailable("not started yet")
    world.reconciler.plan_chores()
    world.work()
    assert known(world) == {}

    shelf.problem = None
    world.pass_time(2)

    assert known(world).keys() == {"a"}


def test_what_a_lease_holds_is_shown_to_the_operators_filters(world: World, shelf: Shelf) -> None:
    take(world, shelf, thing("a", facts={"weight": 3}))
    shown = world.create("now", 60, asked=dict(THING))
    lease = read_lease(world.context, shown["id"])
    (reservation,) = lease.reservations

    usage = usage_of(
        world.context, lease, {reservation.id: {known(world)["a"].id: None}}, status=lease.status
    )

    reservations = usage.document["reservations"]
    assert isinstance(reservations, list)
    assert reservations[0]["allocations"] == [{"id": known(world)["a"].id, "name": "a", "weight": 3}]


def test_a_plugin_finds_what_its_reservations_left_behind(world: World, shelf: Shelf) -> None:
    know_a_lease(world.context.store)
    shelf.leftovers = {"lost": MISSING_ID, "foreign": ReservationId("not ours")}

    first = sweep(world.context, "manager")
    world.clock.advance(world.settings.reconciler.sweep_interval)
    second = sweep(world.context, "manager")

    assert first.found == second.found == second.removed == ("left:lost",)
    assert shelf.leftovers.keys() == {"foreign"}


def test_a_plugin_that_cannot_look_does_not_stop_the_sweep(world: World, shelf: Shelf) -> None:
    shelf.problem = out_of_order()

    assert sweep(world.context, "manager").found == ()


def test_a_service_that_does_not_answer_delays_only_its_own_leftovers(world: World, shelf: Shelf) -> None:
    know_a_lease(world.context.store)
    flavor = Flavor(id=MISSING_ID, name=flavor_name(MISSING_ID), vcpus=1, memory_mb=1, disk_gb=0)
    world.cloud.compute.create_flavor(flavor)
    shelf.leftovers = {"lost": MISSING_ID}
    shelf.problem = CloudUnavailable("no answer")

    for _ in range(2):
        with pytest.raises(CloudUnavailable, match="no answer"):
            sweep(world.context, "manager")
        world.clock.advance(world.settings.reconciler.sweep_interval)

    assert world.cloud.compute.list_flavors() == ()
    assert shelf.leftovers.keys() == {"lost"}


def test_an_operator_sees_what_is_in_stock(
    world: World, shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf.things = [thing("a", diagnosis=DISABLED), thing("c", amounts={"PIECES": 5, "BOXES": 1})]

    assert discovery.run(world.context, Namespace()) == 0
    assert discovery.list_discovered(world.context, Namespace()) == 0

    assert capsys.readouterr().out.splitlines() == [
        "shelf:a",
        "shelf:b",
        "shelf:c",
        "2 resources were discovered, 3 have changed",
        "shelf a (as a whole) is disabled: kept for the fair",
        "shelf c (1 BOXES, 5 PIECES) is sound",
    ]
