"""Stored facts about registered hosts follow Nova and Placement."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from app.conftest import EnvWith
from app.http_env import HttpEnv, good, quiet_settings, shortage

from blazar.cloud.simulated import HostShape
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.db.tables import journal
from blazar.domain.errors import CloudUnavailable, ConcurrentUpdate
from blazar.domain.lease import ResourceId
from blazar.domain.providers import HostProvider, Inventory
from blazar.plugins.hosts.collection import REFRESH
from blazar.plugins.hosts.refresh import Refreshed, refresh_hosts
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.placement import Inventories

pytestmark = pytest.mark.usefixtures("hosts")

IN_AZ2 = '["==", "$availability_zone", "az2"]'


def refresh(env: HttpEnv, *names: str) -> Refreshed:
    return refresh_hosts(env.context, "operator", names=names or None)


def put_into_zone(env: HttpEnv, service_host: str, zone: str) -> None:
    aggregate = env.cloud.add_aggregate(f"rack-of-{service_host}", zone)
    env.cloud.aggregates.add_host(aggregate.id, service_host)


def zone_of(env: HttpEnv, name: str) -> object:
    (host,) = [each for each in good(env.get("/os-hosts"))["hosts"] if each["hypervisor_hostname"] == name]
    return host["availability_zone"]


def providers_of(env: HttpEnv, host_id: str) -> tuple[HostProvider, ...]:
    with env.context.store.read() as transaction:
        return transaction.of(HOST_STORE).list_providers()[ResourceId(host_id)]


def test_a_refresh_without_news_changes_nothing(env: HttpEnv) -> None:
    before = env.snapshot()

    assert refresh(env) == Refreshed(changed={}, failed={}, unknown=())
    assert env.snapshot() == before


def test_a_host_that_was_moved_is_found_by_its_new_zone(env: HttpEnv) -> None:
    shortage(env.post("/leases", env.wish(resource_properties=IN_AZ2)))
    put_into_zone(env, "h2", "az2")

    assert refresh(env).changed == {"h2": "availability_zone: nova -> az2"}

    lease = env.create(resource_properties=IN_AZ2)
    env.work()
    assert env.aggregates()[lease["reservations"][0]["id"]] == {"h2"}


def test_zones_are_recorded_once_the_option_is_on(env_with: EnvWith) -> None:
    env = env_with(quiet_settings().with_own(HostSettings(az_aware=False)))
    env.register("h9")
    put_into_zone(env, "h9", "az2")
    assert refresh(env).changed == {}
    assert zone_of(env, "h9") == ""

    env.context = replace(env.context, settings=quiet_settings())

    assert refresh(env).changed == {"h9": "availability_zone:  -> az2"}
    assert zone_of(env, "h9") == "az2"


def test_the_zone_of_a_reserved_host_is_the_one_that_it_comes_back_to(env: HttpEnv) -> None:
    put_into_zone(env, "h2", "az2")
    refresh(env)
    lease = env.create(0, 60, resource_properties=IN_AZ2)
    env.pass_time(1)
    assert env.status(lease) == "ACTIVE"

    assert refresh(env).changed == {}
    assert zone_of(env, "h2") == "az2"

    env.pass_time(61)
    assert env.aggregates()["rack-of-h2"] == {"h2"}
    assert refresh(env).changed == {}


def test_weakness_54_sizes_inventories_and_traits_are_read_again(env: HttpEnv, hosts: list[str]) -> None:
    env.cloud.resize_hypervisor("h1", HostShape(vcpus=99))
    placement = env.cloud.placement
    root = placement.find_provider("h1")
    assert root is not None
    node = placement.create_provider("h1_NUMA0", root.uuid)
    placement.create_resource_class("CUSTOM_GPU")
    placement.put_inventories(
        node.uuid, Inventories(generation=0, by_class={"CUSTOM_GPU": Inventory(total=4)})
    )

    changed = refresh(env).changed

    assert changed.keys() == {"h1"}
    assert "vcpus: 16 -> 99" in changed["h1"]
    assert "inventories or traits" in changed["h1"]
    found = {each.name: each for each in providers_of(env, hosts[0])}
    assert found.keys() == {"h1", "h1_NUMA0"}
    assert found["h1"].inventories["VCPU"].total == 99
    assert found["h1_NUMA0"].inventories["CUSTOM_GPU"].total == 4
    assert found["h1_NUMA0"].parent_uuid == root.uuid
    lease = env.create(hypervisor_properties='["==", "$vcpus", "99"]')
    assert (
        good(env.get(f"/os-hosts/{hosts[0]}/allocation"))["allocation"]["reservations"][0]["lease_id"]
        == (lease["id"])
    )


def test_only_the_hosts_that_are_named_are_read(env: HttpEnv) -> None:
    for name in ("h1", "h2"):
        env.cloud.resize_hypervisor(name, HostShape(vcpus=99))

    assert refresh(env, "h2", "unknown").changed.keys() == {"h2"}


def test_a_host_that_nova_does_not_know_any_more_stays_as_it_was_and_is_named(env: HttpEnv) -> None:
    before = good(env.get("/os-hosts"))["hosts"]
    env.cloud.remove_hypervisor("h3")

    assert refresh(env) == Refreshed(changed={}, failed={}, unknown=("h3",))
    assert good(env.get("/os-hosts"))["hosts"] == before


def test_a_recreated_root_provider_is_found_by_its_name(env: HttpEnv, hosts: list[str]) -> None:
    placement = env.cloud.placement
    for name in ("blazar_h1", "h1"):
        provider = placement.find_provider(name)
        assert provider is not None
        placement.delete_provider(provider.uuid)
    root = placement.create_provider("h1", None)

    assert refresh(env).changed == {"h1": "inventories or traits"}
    assert [each.uuid for each in providers_of(env, hosts[0])] == [root.uuid]


def test_one_host_that_cannot_be_read_does_not_keep_the_others_from_it(env: HttpEnv) -> None:
    for name in ("h1", "h2"):
        env.cloud.resize_hypervisor(name, HostShape(vcpus=99))
    env.cloud.faults.add(
        FaultRule(kind=FaultKind.STATUS, operation="placement.get_inventories", status=409, nth=1)
    )

    result = refresh(env, "h1", "h2")

    assert len(result.failed) == len(result.changed) == 1
    assert result.failed.keys() | result.changed.keys() == {"h1", "h2"}
    env.cloud.faults.clear()
    assert refresh(env).changed.keys() == result.failed.keys()


def test_a_cloud_that_does_not_answer_ends_the_refresh(env: HttpEnv) -> None:
    env.cloud.faults.add(FaultRule(kind=FaultKind.STATUS, operation="placement.list_tree", status=503))

    with pytest.raises(CloudUnavailable):
        refresh(env)


def test_a_missing_answer_about_one_host_does_not_end_the_refresh(env: HttpEnv) -> None:
    for name in ("h1", "h2", "h3", "h4"):
        env.cloud.resize_hypervisor(name, HostShape(vcpus=99))
    # The first host, and no other call.
    missing = FaultRule(kind=FaultKind.STATUS, operation="placement.list_tree", status=503, nth=1)
    env.cloud.faults.add(missing)

    result = refresh(env)

    assert result.changed.keys() == {"h1", "h2", "h3", "h4"}
    assert result.failed == {}


def test_a_host_about_which_no_answer_comes_twice_is_left_to_the_next_refresh(env: HttpEnv) -> None:
    for name in ("h1", "h2"):
        env.cloud.resize_hypervisor(name, HostShape(vcpus=99))
    for number in (1, 3):
        env.cloud.faults.add(
            FaultRule(kind=FaultKind.STATUS, operation="placement.list_tree", status=503, nth=number)
        )

    result = refresh(env, "h1", "h2")

    assert len(result.failed) == len(result.changed) == 1
    env.cloud.faults.clear()
    assert refresh(env).changed.keys() == result.failed.keys()


def test_what_a_request_changes_meanwhile_is_not_overwritten(env: HttpEnv, hosts: list[str]) -> None:
    env.cloud.resize_hypervisor("h1", HostShape(vcpus=99))

    def interfere() -> None:
        good(env.put(f"/os-hosts/{hosts[0]}", {"gpu": "yes"}))

    result = refresh_hosts(env.context, "operator", names=["h1"], check_claim=interfere)

    assert result.failed == {
        "h1": str(ConcurrentUpdate("Another transaction claimed a resource concurrently"))
    }
    assert good(env.get(f"/os-hosts/{hosts[0]}"))["host"]["gpu"] == "yes"


def test_managers_refresh_again_and_again_and_the_journal_says_what_changed(env: HttpEnv) -> None:
    with env.context.store.begin() as transaction:
        transaction.work.schedule([REFRESH], env.clock.now())
        transaction.commit()
    env.work()
    env.cloud.resize_hypervisor("h4", HostShape(memory_mb=1))

    env.pass_time(quiet_settings().of(HostSettings).refresh_interval / timedelta(minutes=1) + 1)

    with env.engine.connect() as connection:
        reasons = connection.scalars(
            sa.select(journal.c.reason).where(journal.c.event == "host.refreshed")
        ).all()
    assert reasons == ["h4: memory_mb: 65536 -> 1; inventories or traits"]
