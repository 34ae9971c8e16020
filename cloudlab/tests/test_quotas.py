"""Limits set by an operator in Keystone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from blazarclient.exception import BlazarClientException
from cloudlab.plan import REGION
from cloudlab.tests.actors import Actor, in_minutes
from cloudlab.tests.end_to_end_lab import EndToEndLab

SetLimit = Callable[..., None]


@pytest.fixture
def set_limit(lab: EndToEndLab) -> Iterator[SetLimit]:
    """Register a limit, or set that of a project; it is removed after the test."""
    keystone = lab.openstack.api("identity")
    (service,) = keystone.get("/services", params={"type": "reservation"}).json()["services"]
    of_service = {"service_id": service["id"], "region_id": REGION}

    def set_limit(name: str, limit: int, project_id: str | None = None) -> None:
        if project_id is None:
            body = {**of_service, "resource_name": name, "default_limit": limit}
            keystone.post("/registered_limits", json={"registered_limits": [body]})
        else:
            body = {
                **of_service,
                "resource_name": name,
                "resource_limit": limit,
                "project_id": project_id,
            }
            keystone.post("/limits", json={"limits": [body]})

    yield set_limit
    for kind in ("limits", "registered_limits"):
        for each in keystone.get(f"/{kind}", params={"service_id": service["id"]}).json()[kind]:
            keystone.delete(f"/{kind}/{each['id']}")


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(BlazarClientException) as caught:
        act()
    assert caught.value.code == 403
    return str(caught.value)


def test_a_project_is_kept_within_the_registered_limits_and_another_within_its_own(
    lab: EndToEndLab, lessee: Actor, other: Actor, set_limit: SetLimit
) -> None:
    set_limit("reserved_hosts", 1)
    set_limit("reserved_hosts", 2, other.project_id)
    first = lessee.reserve(start=in_minutes(30), end=in_minutes(60))

    assert "reserved_hosts: 1 in use, 1 more requested, and the limit is 1" in refusal(
        lambda: lessee.reserve(start=in_minutes(30), end=in_minutes(60))
    )
    other.reserve(start=in_minutes(30), end=in_minutes(60), hosts=2)
    lessee.reserve(start=in_minutes(60), end=in_minutes(90))

    lessee.blazar.lease.delete(first["id"])
    lessee.reserve(start=in_minutes(30), end=in_minutes(60))


def test_instances_are_limited_by_what_they_need_and_extensions_by_the_hours(
    lab: EndToEndLab, lessee: Actor, set_limit: SetLimit
) -> None:
    set_limit("reserved_instances:VCPU", 3)
    set_limit("instance_hours_ahead", 2)

    assert "reserved_instances:VCPU" in refusal(lambda: lessee.reserve_instances(4, start=in_minutes(30)))
    lease = lessee.reserve_instances(2, start=in_minutes(30), end=in_minutes(60))
    assert "instance_hours_ahead" in refusal(
        lambda: lessee.blazar.lease.update(lease["id"], end_date=in_minutes(60 * 3))
    )

    shown = lab.show_quota(lessee.project_id)
    assert "reserved_instances:VCPU: 2 of 3" in shown
    assert "instance_hours_ahead: 1 of 2" in shown
