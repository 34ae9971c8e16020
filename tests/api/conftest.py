from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import falcon.testing
import pytest
from oslo_config import cfg

with warnings.catch_warnings():
    # WebOb, used by oslo.middleware and keystonemiddleware, imports the deprecated cgi module.
    warnings.simplefilter("ignore", DeprecationWarning)
    import webob  # type: ignore[import-untyped]  # noqa: F401

from api.fake_feeds import TOKEN
from api.fake_manager import FakeManager

from blazar.api.app import make_app
from blazar.api.auth import make_guard, noauth
from blazar.api.health import make_healthcheck
from blazar.api.policies import make_policy
from blazar.api.route import Route
from blazar.api.routes import TYPE_APIS
from blazar.api.type_api import TypeApi
from blazar.settings import ApiSettings

FLOATINGIP = {"floating_network_id": "n1", "floating_ip_address": "203.0.113.200"}
LEASE = {"name": "night", "start_date": "2031-04-05 20:00", "end_date": "2031-04-06 06:00"}

POSTED: Mapping[str, object] = {
    "/v1/floatingips": FLOATINGIP,
    "/v1/networks": {"network_type": "vlan", "physical_network": "physnet1", "segment_id": 201},
    "/v1/storage-pools": {"name": "block1@fast#ssd", "media": "ssd"},
    "/v1/availability/search": {"reservations": [{"resource_type": "physical:host"}]},
    "/v1/leases/{lease_id}/replacements": {"reservation_id": "r1", "resources": ["17"]},
    "/v1/maintenance": {"resources": ["host-1"]},
    "/v1/feeds": {"kind": "project"},
    "/v1/subscriptions": {"kind": "webhook", "url": "https://hooks.example.org/"},
    "/v1/offers": {**LEASE, "reservations": [{"resource_type": "physical:host"}]},
}
"""Bodies of POST requests, by path; for all others, that of a lease."""

KNOWN = {
    "lease_id": "l1",
    "offer_id": "o1",
    "maintenance_id": "m1",
    "feed_id": "c1",
    "token": TOKEN,
    "subscription_id": "s1",
    "host_id": "17",
    "property_name": "gpu",
    "floatingip_id": "f1",
    "resource_id": "t1",
}
"""One id of each kind that the manager knows."""
UNKNOWN = {
    "lease_id": "nowhere",
    "offer_id": "o9",
    "maintenance_id": "m9",
    "feed_id": "c9",
    "token": "x" * 43,
    "subscription_id": "s9",
    "host_id": "99",
    "property_name": "nothing",
    "floatingip_id": "f9",
    "resource_id": "t9",
}


def body_for(route: Route) -> object:
    """Return a body that a route accepts; None for a route without a body."""
    if route.body is None:
        return None
    if route.method == "POST":
        return POSTED.get(route.path, LEASE)
    if "subscriptions" in route.path:
        return {"enabled": False}
    return {"reason": "done"} if "maintenance" in route.path else {"private": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The application with its manager; requests may claim any role, project and user."""

    app: Any
    manager: FakeManager

    def request(
        self, method: str, path: str, *, roles: str = "admin", project: str = "p1", **more: Any
    ) -> falcon.testing.Result:
        headers = {"X-Roles": roles, "X-Project-Id": project, "X-User-Id": "u1", **more.pop("headers", {})}
        client = falcon.testing.TestClient(self.app)
        return client.simulate_request(method, path, headers=headers, **more)

    def get(self, path: str, **more: Any) -> falcon.testing.Result:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> falcon.testing.Result:
        return self.request("POST", path, **more)

    def put(self, path: str, **more: Any) -> falcon.testing.Result:
        return self.request("PUT", path, **more)

    def patch(self, path: str, **more: Any) -> falcon.testing.Result:
        return self.request("PATCH", path, **more)

    def delete(self, path: str, **more: Any) -> falcon.testing.Result:
        return self.request("DELETE", path, **more)


@pytest.fixture
def conf() -> cfg.ConfigOpts:
    """Return a configuration that is read from no file."""
    found = cfg.ConfigOpts()
    found([], project="blazar", default_config_files=[], default_config_dirs=[])
    return found


@pytest.fixture
def make_api(conf: cfg.ConfigOpts) -> Callable[..., Api]:
    """Return a function that makes applications.

    Its keywords are ``guard``, ``types`` and those of ``ApiSettings``.
    """

    def make(*, guard: Any = None, types: Sequence[TypeApi] = TYPE_APIS, **settings: Any) -> Api:
        manager = FakeManager()
        api_settings = ApiSettings(**{"auth_strategy": "noauth", **settings})
        # Only test_origins tests the restrictions for browsers without authentication.
        believing = noauth if api_settings.auth_strategy == "noauth" else None
        app = make_app(
            manager,
            api_settings,
            make_policy(conf, types),
            types=types,
            guard=guard or believing or make_guard(api_settings, conf),
            healthcheck=make_healthcheck(conf),
        )
        return Api(app=app, manager=manager)

    return make


@pytest.fixture
def api(make_api: Callable[..., Api]) -> Api:
    """Return an application that trusts the identity headers of its clients."""
    return make_api()
