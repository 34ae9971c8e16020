"""Accounts and catalog of Keystone."""

from __future__ import annotations

from typing import Final

from keystoneauth1.adapter import Adapter

from cloudlab import rest
from cloudlab.plan import REGION, Plan

LESSEES: Final = ("lessee", "other")
"""Projects of ordinary users, each with a user of the same name."""

_INTERFACES: Final = ("public", "internal", "admin")
_CATALOGUE: Final = (
    ("placement", "placement", "placement", ""),
    ("glance", "image", "glance", ""),
    ("nova", "compute", "nova-api", "/v2.1"),
    ("neutron", "network", "neutron", ""),
    ("cinder", "block-storage", "cinder", "/v3"),
    ("blazar", "reservation", "blazar-api", "/v1"),
)
"""Name, type, port and path of every service except Keystone, which registers itself."""


def furnish(plan: Plan) -> None:
    """Create the missing projects, users, roles, services and endpoints."""
    api = rest.make_adapter(rest.admin_session(plan), "identity")
    roles = {each["name"]: each["id"] for each in api.get("/roles").json()["roles"]}
    service = _project(api, "service")
    for name, *_ in _CATALOGUE:
        user = _user(api, name, plan.passwords[name])
        # Other services need the role service to trust each other; Blazar must work with admin alone.
        for role in ("admin",) if name == "blazar" else ("admin", "service"):
            api.put(f"/projects/{service}/users/{user}/roles/{roles[role]}")
    for name in LESSEES:
        project, user = _project(api, name), _user(api, name, plan.passwords[name])
        for role in ("member", "reader"):
            api.put(f"/projects/{project}/users/{user}/roles/{roles[role]}")
    for name, kind, port, path in _CATALOGUE:
        _service(api, name, kind, plan.url(port) + path)


def _project(api: Adapter, name: str) -> str:
    body = {"name": name, "domain_id": "default"}
    return str(rest.ensure(api, "/projects", "projects", "project", body, **body)["id"])


def _user(api: Adapter, name: str, password: str) -> str:
    key = {"name": name, "domain_id": "default"}
    return str(rest.ensure(api, "/users", "users", "user", {**key, "password": password}, **key)["id"])


def _service(api: Adapter, name: str, kind: str, url: str) -> None:
    body = {"name": name, "type": kind}
    service = rest.ensure(api, "/services", "services", "service", body, type=kind)["id"]
    for interface in _INTERFACES:
        key = {"service_id": service, "interface": interface}
        body = {**key, "url": url, "region_id": REGION}
        rest.ensure(api, "/endpoints", "endpoints", "endpoint", body, **key)
