"""Authentication: tokens of all scopes, and lessees whose account was deleted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.identity.v3 import ApplicationCredential, Password
from keystoneauth1.session import Session

from blazarclient.client import Client
from cloudlab.lab import OpenStackLab
from cloudlab.plan import REGION
from cloudlab.tests.actors import Operator, in_minutes
from cloudlab.waiting import wait_until

ASKED = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 1,
    "hypervisor_properties": "",
    "resource_properties": "",
}


@pytest.fixture
def admin_of_the_domain(openstack: OpenStackLab) -> None:
    identity, user_id = openstack.api("identity"), openstack.details.accounts["admin"].user_id
    (role,) = identity.get("/roles", params={"name": "admin"}).json()["roles"]
    identity.put(f"/domains/default/users/{user_id}/roles/{role['id']}")


@pytest.mark.parametrize(
    "scope", [{"system_scope": "all"}, {"domain_name": "Default"}], ids=["system", "domain"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.usefixtures("lab", "admin_of_the_domain")
def test_a_token_without_a_project_is_refused_with_the_reason(
    openstack: OpenStackLab, scope: dict[str, Any], method: str
) -> None:
    admin = openstack.details.accounts["admin"]
    auth = Password(
        auth_url=openstack.details.auth_url,
        username=admin.user,
        password=admin.password,
        user_domain_name="Default",
        **scope,
    )
    api = Adapter(
        session=Session(auth=auth),
        endpoint_override=f"{openstack.details.urls['blazar-api']}/v1",
        raise_exc=False,
    )

    answer = api.request("/leases", method, json={} if method == "POST" else None)

    assert answer.status_code == 403
    assert "project" in answer.text


def test_a_restricted_application_credential_is_enough_for_a_lease(
    openstack: OpenStackLab, operator: Operator
) -> None:
    lessee = openstack.details.accounts["lessee"]
    identity = openstack.api("identity", "lessee")
    path = f"/users/{lessee.user_id}/application_credentials"
    body = {"name": f"test-{uuid.uuid4().hex[:8]}", "unrestricted": False}
    made = identity.post(path, json={"application_credential": body}).json()["application_credential"]
    auth = ApplicationCredential(
        auth_url=openstack.details.auth_url,
        application_credential_id=made["id"],
        application_credential_secret=made["secret"],
    )
    blazar = Client(session=Session(auth=auth), interface="public", region_name=REGION)
    try:
        lease = blazar.lease.create("restricted", "now", in_minutes(60), [ASKED], [])

        operator.wait_for_lease(lease, "ACTIVE")
    finally:
        identity.delete(f"{path}/{made['id']}")


@pytest.fixture
def newcomer(openstack: OpenStackLab) -> Iterator[tuple[str, Password]]:
    """A user in the lessee's project: the id and the credentials."""
    identity = openstack.api("identity")
    name, password = f"newcomer-{uuid.uuid4().hex[:8]}", uuid.uuid4().hex
    user: dict[str, Any] = {"name": name, "password": password, "domain_id": "default"}
    user_id = identity.post("/users", json={"user": user}).json()["user"]["id"]
    project = openstack.details.accounts["lessee"]
    (role,) = identity.get("/roles", params={"name": "member"}).json()["roles"]
    identity.put(f"/projects/{project.project_id}/users/{user_id}/roles/{role['id']}")
    yield (
        user_id,
        Password(
            auth_url=openstack.details.auth_url,
            username=name,
            password=password,
            user_domain_name="Default",
            project_id=project.project_id,
        ),
    )
    identity.delete(f"/users/{user_id}", raise_exc=False)


def test_weakness_25_a_lease_ends_although_its_lessees_account_has_gone(
    openstack: OpenStackLab, operator: Operator, newcomer: tuple[str, Password]
) -> None:
    user_id, auth = newcomer
    blazar = Client(session=Session(auth=auth), interface="public", region_name=REGION)
    lease = blazar.lease.create("orphan", "now", in_minutes(60), [ASKED], [])
    operator.wait_for_lease(lease, "ACTIVE")
    (host,) = operator.hosts_of(lease)

    openstack.api("identity").delete(f"/users/{user_id}")
    operator.end(lease)

    wait_until(lambda: host in operator.freepool()["hosts"], f"{host} is back", seconds=60)
