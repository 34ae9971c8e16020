"""With very many aggregates, those whose ids are known are read one by one."""

from __future__ import annotations

from typing import Any

import pytest
from cloud.openstack.stub import Reply, StubCloud

from blazar.cloud.openstack.driver import OpenStackCloud

AGGREGATES = "/compute/v2.1/os-aggregates"


def aggregate(number: int, name: str = "") -> dict[str, Any]:
    return {"id": number, "name": name or f"a{number}", "availability_zone": None, "hosts": [f"h{number}"]}


def know(stub: StubCloud, cloud: OpenStackCloud, number: int) -> None:
    """Let the cloud list so many aggregates once."""
    body = {"aggregates": [aggregate(each) for each in range(1, number + 1)]}
    stub.lay_out("GET", AGGREGATES, Reply(body=body))
    cloud.aggregates.list_aggregates()


def listed(stub: StubCloud) -> int:
    return len(stub.asked("GET", AGGREGATES))


@pytest.mark.parametrize(("number", "lists"), [(1_000, 2), (1_001, 1)])
def test_the_list_is_read_unless_there_are_very_many(
    stub: StubCloud, cloud: OpenStackCloud, number: int, lists: int
) -> None:
    know(stub, cloud, number)
    for each in (7, 9):
        stub.lay_out("GET", f"{AGGREGATES}/{each}", Reply(body={"aggregate": aggregate(each)}))

    found = cloud.aggregates.list_aggregates(["a7", "a9"])

    assert {each.id: set(each.hosts) for each in found} == {7: {"h7"}, 9: {"h9"}}
    assert listed(stub) == lists


def test_a_name_without_a_known_id_is_searched_in_the_list(stub: StubCloud, cloud: OpenStackCloud) -> None:
    know(stub, cloud, 1_001)

    assert cloud.aggregates.list_aggregates(["a7", "unknown"])[0].id == 7
    assert listed(stub) == 2


@pytest.mark.parametrize(
    "reply",
    [Reply(status=404), Reply(body={"aggregate": aggregate(7, "another")}), Reply(status=403)],
    ids=["gone", "renamed", "refused"],
)
def test_an_aggregate_that_cannot_be_read_by_its_id_is_searched_in_the_list(
    stub: StubCloud, cloud: OpenStackCloud, reply: Reply
) -> None:
    know(stub, cloud, 1_001)
    stub.lay_out("GET", f"{AGGREGATES}/7", reply)
    stub.lay_out("GET", AGGREGATES, Reply(body={"aggregates": [aggregate(2_000, "a7")]}))

    (found,) = cloud.aggregates.list_aggregates(["a7"])

    assert found.id == 2_000


def test_the_id_of_an_aggregate_that_was_created_here_is_known(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    know(stub, cloud, 1_001)
    stub.lay_out("POST", AGGREGATES, Reply(body={"aggregate": aggregate(5_000, "new")}))
    stub.lay_out("GET", f"{AGGREGATES}/5000", Reply(body={"aggregate": aggregate(5_000, "new")}))
    cloud.aggregates.create_aggregate("new", None, {})

    (found,) = cloud.aggregates.list_aggregates(["new"])

    assert found.id == 5_000
    assert listed(stub) == 1
