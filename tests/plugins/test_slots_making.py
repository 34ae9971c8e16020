"""Creation of the items of slot reservations, also with concurrent changes and leftovers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from plugin_cases import PROJECT, RESERVATION
from plugins.slot_env import AlteredCloud, SlotEnv

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudUnavailable
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Done, Unusable, Waiting
from blazar.plugins.slots.items import Kind, SlotItem
from blazar.ports.compute import Aggregate, Aggregates, Flavor


@pytest.fixture
def env() -> SlotEnv:
    """A reservation of three slots on each of two hosts, without any items."""
    return SlotEnv(affinity=None)


class WithoutZones:
    """Nova shows the zone of no host."""

    def list_availability_zones(self) -> dict[str, str]:
        return {}


class StrictAggregates:
    """Nova returns an error for metadata that are to be removed and do not exist."""

    def __init__(self, aggregates: Aggregates) -> None:
        self._aggregates = aggregates

    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> Aggregate:
        if None in metadata.values():
            raise CloudNotFound("no such key")
        return self._aggregates.set_aggregate_metadata(aggregate_id, metadata)


class TestTheFlavor:
    def test_one_that_was_left_without_its_extra_specs_is_completed(self, env: SlotEnv) -> None:
        env.fail("compute.set_flavor_extra_specs", CloudUnavailable)
        with pytest.raises(CloudUnavailable):
            env.make(Kind.FLAVOR)

        env.reach(Phase.PREPARING)

        assert env.seen(Phase.PREPARING).items == env.wanted(Phase.PREPARING)

    def test_one_of_other_sizes_is_made_again_with_all_its_extra_specs(self, env: SlotEnv) -> None:
        env.reach(Phase.PREPARING)
        env.change(vcpus=5)

        env.reach(Phase.PREPARING)

        assert env.flavor is not None
        assert env.flavor.vcpus == 5
        assert env.seen(Phase.PREPARING).items == env.wanted(Phase.PREPARING)

    def test_one_that_everybody_may_use_is_made_again(self, env: SlotEnv) -> None:
        env.reach(Phase.PREPARING)
        made = env.flavor
        assert made is not None
        env.cloud.flavors.delete_flavor(RESERVATION)
        env.cloud.flavors.create_flavor(replace(made, is_public=True))

        env.reach(Phase.RUNNING)

        assert env.flavor == made
        assert env.seen(Phase.RUNNING).items == env.wanted(Phase.RUNNING)

    def test_extra_specs_that_were_changed_before_the_start_do_not_stay(self) -> None:
        env = SlotEnv("flavor:instance", affinity=None)
        env.reach(Phase.PREPARING)
        env.cloud.flavors.create_flavor(
            Flavor(id="9", name="9", vcpus=2, memory_mb=1024, disk_gb=10, ephemeral_gb=5, is_public=True)
        )
        env.change(flavor_id=9)

        # Also if the start comes before the next observation.
        env.reach(Phase.RUNNING)

        assert env.flavor is not None
        assert len(env.flavor.extra_specs) == 2
        assert env.seen(Phase.RUNNING).items == env.wanted(Phase.RUNNING)

    def test_extra_specs_that_an_operator_adds_to_one_in_use_stay(self, env: SlotEnv) -> None:
        env.reach(Phase.RUNNING)
        env.cloud.flavors.set_flavor_extra_specs(RESERVATION, {"quota:disk_read_iops_sec": "100"})

        assert env.seen(Phase.RUNNING).items == env.wanted(Phase.RUNNING)

    def test_one_that_another_manager_has_just_made_will_do(self, env: SlotEnv) -> None:
        seen = env.seen(Phase.PREPARING)
        env.reach(Phase.PREPARING)
        item = next(each for each in env.wanted(Phase.PREPARING) if each.kind is Kind.FLAVOR)

        assert env.plugin.make(env.cloud, env.assignment, item, seen) == Done()

    def test_another_flavor_of_its_name_is_waited_for(self, env: SlotEnv) -> None:
        env.cloud.flavors.create_flavor(
            Flavor(id="x", name=f"reservation:{RESERVATION}", vcpus=2, memory_mb=1024, disk_gb=0)
        )

        outcome = env.make(Kind.FLAVOR)

        assert isinstance(outcome, Waiting)
        assert "another flavor is in the way" in outcome.reason


class TestTheAggregate:
    def test_one_that_was_left_without_its_metadata_is_completed(self, env: SlotEnv) -> None:
        env.cloud.add_aggregate(RESERVATION)

        env.reach(Phase.PREPARING)

        assert env.seen(Phase.PREPARING).items == env.wanted(Phase.PREPARING)

    @pytest.mark.parametrize(("before", "after"), [(True, False), (True, None), (None, False)])
    def test_it_follows_a_change_of_the_affinity(self, before: bool | None, after: bool | None) -> None:
        env = SlotEnv(affinity=before)
        env.reach(Phase.PREPARING)
        env.change(affinity=after)

        env.reach(Phase.PREPARING)

        groups = [each.id for each in env.cloud.server_groups.list_server_groups()]
        assert len(groups) == (after is not None)
        assert env.aggregate.metadata.get("affinity_id") == (groups[0] if groups else None)
        assert env.flavor is not None
        assert env.flavor.extra_specs.get("affinity_id") == (groups[0] if groups else None)
        assert env.seen(Phase.PREPARING).items == env.wanted(Phase.PREPARING)

    def test_nova_is_not_asked_to_remove_what_is_not_there(self, env: SlotEnv) -> None:
        env.cloud.add_aggregate(RESERVATION)

        assert (
            env.make(
                Kind.METADATA,
                cloud=AlteredCloud(env.cloud, aggregates=StrictAggregates(env.cloud.aggregates)),
            )
            == Done()
        )

    def test_metadata_of_others_stay(self, env: SlotEnv) -> None:
        env.reach(Phase.PREPARING)
        env.cloud.aggregates.set_aggregate_metadata(env.aggregate.id, {"note": "mine", "reservation": "x"})

        env.reach(Phase.PREPARING)

        assert env.aggregate.metadata["note"] == "mine"
        assert env.aggregate.metadata["reservation"] == RESERVATION

    def test_one_that_another_manager_has_just_made_is_looked_at_again(self, env: SlotEnv) -> None:
        seen = env.seen(Phase.PREPARING)
        env.cloud.add_aggregate(RESERVATION)

        outcome = env.plugin.make(env.cloud, env.assignment, SlotItem(Kind.AGGREGATE), seen)

        assert isinstance(outcome, Waiting)

    @pytest.mark.parametrize("kind", [Kind.METADATA, Kind.MEMBER])
    def test_what_needs_it_waits_for_it(self, env: SlotEnv, kind: Kind) -> None:
        outcome = env.make(kind)

        assert isinstance(outcome, Waiting)
        assert "the aggregate does not exist yet" in outcome.reason


class TestMembers:
    def test_a_host_that_is_in_there_already_is_fine(self, env: SlotEnv) -> None:
        env.reach(Phase.PREPARING)
        seen = env.seen(Phase.RUNNING)
        env.reach(Phase.RUNNING)
        item = min(each for each in env.wanted(Phase.RUNNING) if each.kind is Kind.MEMBER)

        assert env.plugin.make(env.cloud, env.assignment, item, seen) == Done()

    def test_another_conflict_is_waited_for(self, env: SlotEnv) -> None:
        env.reach(Phase.PREPARING)
        env.fail("compute.add_host", CloudConflict)

        assert isinstance(env.make(Kind.MEMBER), Waiting)

    def test_a_host_that_nova_does_not_know_is_unusable_for_good_and_leaves_no_slots(
        self, env: SlotEnv
    ) -> None:
        env.reach(Phase.PREPARING)
        env.make(Kind.INVENTORY)
        provider = env.cloud.placement.find_provider("blazar_host-0.example")
        assert provider is not None
        env.fail("compute.add_host", CloudNotFound)
        # As Nova shows it when the service is gone but Placement still has the provider.
        cloud = AlteredCloud(env.cloud, hypervisors=WithoutZones())

        outcome = env.make(Kind.MEMBER, cloud=cloud)

        assert outcome == Unusable("Nova no longer has host host-0", is_final=True)
        assert env.cloud.placement.get_inventories(provider.uuid).by_class == {}

    def test_an_aggregate_that_goes_meanwhile_is_no_fault_of_the_host(self, env: SlotEnv) -> None:
        env.reach(Phase.PREPARING)
        env.fail("compute.add_host", CloudNotFound)

        assert isinstance(env.make(Kind.MEMBER), Waiting)


class TestAccess:
    def test_who_has_it_already_is_fine(self, env: SlotEnv) -> None:
        env.reach(Phase.PREPARING)
        env.cloud.flavors.add_flavor_access(RESERVATION, PROJECT)

        assert env.make(Kind.ACCESS) == Done()

    @pytest.mark.parametrize("kind", [Kind.ACCESS, Kind.SPECS])
    def test_without_the_flavor_it_is_waited_for(self, env: SlotEnv, kind: Kind) -> None:
        assert isinstance(env.make(kind), Waiting)

    def test_access_of_other_projects_does_not_count_and_stays(self, env: SlotEnv) -> None:
        env.reach(Phase.PREPARING)
        env.cloud.flavors.add_flavor_access(RESERVATION, "another")

        env.reach(Phase.RUNNING)

        assert env.cloud.flavors.list_flavor_access(RESERVATION) == {"another", PROJECT}


def test_as_many_servers_run_as_there_are_slots(env: SlotEnv) -> None:
    env.hold(host_0=1, host_1=2)
    env.reach(Phase.RUNNING)

    hosts = sorted(env.boot().service_host for _ in range(3))

    assert hosts == ["host-0", "host-1", "host-1"]
    with pytest.raises(CloudConflict):
        env.boot()


def test_a_group_that_is_wanted_was_made_by_the_request() -> None:
    env = SlotEnv(affinity=True)
    before = env.cloud.calls

    assert env.make(Kind.GROUP, Phase.AHEAD) == Done()
    assert not [each for each in env.cloud.calls - before if "server_group" in each]
