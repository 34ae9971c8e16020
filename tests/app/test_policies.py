"""Permissions of each role, checked against the whole service."""

from __future__ import annotations

import pytest
from app.http_env import ADMIN, LESSEE, READER, STRANGER, HttpEnv, Json, Who, good, lease_of, refusal

NO_ROLE = Who(roles="")
STRANGE_READER = Who(user="auditor", project="elsewhere", roles="reader")
LEASE_CALLS: tuple[tuple[str, Json | None], ...] = (
    ("GET", None),
    ("PUT", {"name": "mine"}),
    ("DELETE", None),
)


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("who", [STRANGER, STRANGE_READER, NO_ROLE], ids=["member", "reader", "no-role"])
@pytest.mark.parametrize(("method", "body"), LEASE_CALLS)
def test_weakness_28_another_projects_lease_is_out_of_reach(
    env: HttpEnv, who: Who, method: str, body: Json | None
) -> None:
    lease = env.create()
    before = env.snapshot()

    message = refusal(env.ask(method, f"/leases/{lease['id']}", who=who, json=body), 403)

    assert "blazar:leases:get" in message
    assert lease["id"] not in str(good(env.get("/leases", who=who))) if who is not NO_ROLE else True
    assert env.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_a_reader_of_the_project_sees_its_leases_and_changes_nothing(env: HttpEnv) -> None:
    lease = env.create()
    before = env.snapshot()
    path = f"/leases/{lease['id']}"

    assert lease_of(env.get(path, who=READER))["id"] == lease["id"]
    assert len(good(env.get("/leases", who=READER))["leases"]) == 1
    assert "blazar:leases:put" in refusal(env.put(path, {"name": "x"}, who=READER), 403)
    assert "blazar:leases:delete" in refusal(env.delete(path, who=READER), 403)
    assert "blazar:leases:post" in refusal(env.post("/leases", env.wish(), who=READER), 403)
    assert env.snapshot() == before


@pytest.mark.usefixtures("hosts")
def test_an_operator_sees_and_changes_every_projects_leases(env: HttpEnv) -> None:
    lease = env.create()
    path = f"/leases/{lease['id']}"

    assert lease_of(env.get(path, who=ADMIN))["project_id"] == LESSEE.project
    renamed = lease_of(env.put(path, {"name": "by the operator"}, who=ADMIN))
    assert (renamed["name"], renamed["project_id"], renamed["user_id"]) == (
        "by the operator",
        "project",
        "user",
    )
    assert env.delete(path, who=ADMIN).status_code == 204


@pytest.mark.parametrize(("method", "body"), LEASE_CALLS)
@pytest.mark.parametrize("who", [LESSEE, STRANGER, ADMIN], ids=["member", "stranger", "operator"])
def test_a_missing_lease_is_not_found_with_any_role(
    env: HttpEnv, who: Who, method: str, body: Json | None
) -> None:
    refusal(env.ask(method, "/leases/5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10", who=who, json=body), 404)


@pytest.mark.parametrize("who", [LESSEE, READER, NO_ROLE], ids=["member", "reader", "no-role"])
@pytest.mark.parametrize(
    ("method", "path", "rule"),
    [
        ("GET", "/os-hosts", "blazar:oshosts:get"),
        ("POST", "/os-hosts", "blazar:oshosts:post"),
        ("GET", "/os-hosts/{}", "blazar:oshosts:get"),
        ("PUT", "/os-hosts/{}", "blazar:oshosts:get"),
        ("DELETE", "/os-hosts/{}", "blazar:oshosts:get"),
        ("GET", "/os-hosts/allocations", "blazar:oshosts:get_allocations"),
        ("GET", "/os-hosts/{}/allocation", "blazar:oshosts:get"),
        ("GET", "/os-hosts/properties", "blazar:oshosts:get_resource_properties"),
        ("GET", "/os-hosts/properties?all=True", "blazar:oshosts:get_resource_properties"),
        ("PATCH", "/os-hosts/properties/rack", "blazar:oshosts:update_resource_properties"),
    ],
)
def test_hosts_are_for_operators(
    env: HttpEnv, hosts: list[str], who: Who, method: str, path: str, rule: str
) -> None:
    before = env.snapshot()

    path, _, query = path.format(hosts[0]).partition("?")
    answer = env.ask(method, path, who=who, query_string=query, body=b'{"private": true, "name": "h9"}')

    assert rule in refusal(answer, 403)
    assert env.snapshot() == before


def test_a_forbidden_request_gets_no_message_about_its_body(env: HttpEnv) -> None:
    for body in (b"[]", b'{"name": null}', b"{}"):
        refusal(env.ask("POST", "/os-hosts", who=LESSEE, body=body), 403)
        refusal(env.ask("POST", "/leases", who=READER, body=body), 403)
