from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from api.conftest import FLOATINGIP, KNOWN, LEASE, Api, body_for
from oslo_config import cfg
from oslo_policy import policy

from blazar.api.permissions import LOOKS_EVERY_SECONDS
from blazar.api.policies import list_rules, make_policy
from blazar.api.route import Route
from blazar.api.routes import ROUTES

GUARDED = [route for route in ROUTES if not route.is_public]


def documented() -> set[tuple[str, str, str]]:
    return {
        (rule.name, operation["method"], operation["path"])
        for rule in list_rules()
        if isinstance(rule, policy.DocumentedRuleDefault)
        for operation in rule.operations
    }


def test_only_version_documents_and_calendars_have_no_rule() -> None:
    public = {route.path for route in ROUTES if route.is_public}

    assert public == {"/", "/versions", "/v1", "/v1/", "/v1/calendars/{token}.ics"}


def test_every_route_asks_the_rules_that_are_documented_for_it_and_no_others() -> None:
    asked = {
        (rule, route.method, route.path)
        for route in GUARDED
        for rule in (*route.rules, *route.asked_by_handler)
    }

    assert asked == documented()


def test_rules_are_for_projects() -> None:
    for rule in list_rules():
        if isinstance(rule, policy.DocumentedRuleDefault):
            assert rule.scope_types == ["project"]


def call(api: Api, route: Route, headers: Mapping[str, str] | None = None, **identity: str) -> int:
    latest = {"OpenStack-API-Version": "reservation latest", **(headers or {})}
    path, body = route.path.format(**KNOWN), body_for(route)
    return api.request(route.method, path, json=body, headers=latest, **identity).status_code


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: f"{route.method} {route.path}")
class TestEveryRoute:
    def test_lets_operators_in(self, api: Api, route: Route) -> None:
        assert call(api, route, roles="admin", project="p9") < 300

    def test_refuses_who_has_no_role(self, api: Api, route: Route) -> None:
        assert call(api, route, roles="cook") == 403

    def test_refuses_tokens_for_no_project(self, api: Api, route: Route) -> None:
        system = {"OpenStack-System-Scope": "all"}
        domain = {"X-Domain-Id": "d1"}

        assert call(api, route, headers=system) == 403
        assert call(api, route, headers=domain) == 403

    def test_changes_nothing_when_it_refuses(self, api: Api, route: Route) -> None:
        call(api, route, roles="cook")

        assert {name for name, *_ in api.manager.calls} <= {"get_lease", "get_floatingip"}


@pytest.mark.parametrize(
    ("method", "path", "roles", "status"),
    [
        ("GET", "/v1/leases/l1", "reader", 200),
        ("PUT", "/v1/leases/l1", "reader", 403),
        ("DELETE", "/v1/leases/l1", "reader", 403),
        ("POST", "/v1/leases", "reader", 403),
        ("PUT", "/v1/leases/l1", "member,reader", 200),
        ("POST", "/v1/leases", "member", 201),
        ("DELETE", "/v1/leases/l1", "member,reader", 204),
        ("GET", "/v1/os-hosts", "member,reader", 403),
        ("GET", "/v1/os-hosts/properties", "member,reader", 403),
        ("GET", "/v1/floatingips", "reader", 200),
        ("GET", "/v1/floatingips/f1", "reader", 200),
        ("POST", "/v1/floatingips", "member,reader", 403),
        ("DELETE", "/v1/floatingips/f1", "member,reader", 403),
        ("DELETE", "/v1/floatingips/f9", "member,reader", 404),
        ("DELETE", "/v1/floatingips/f9", "cook", 403),
    ],
)
def test_roles_in_the_own_project(api: Api, method: str, path: str, roles: str, status: int) -> None:
    json = {"/v1/leases": LEASE, "/v1/floatingips": FLOATINGIP}[path] if method == "POST" else None

    assert api.request(method, path, roles=roles, json=json).status_code == status


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_lease_of_another_project_is_refused_by_the_rule_to_look(api: Api, method: str) -> None:
    answer = api.request(method, "/v1/leases/l2", roles="member,reader")

    assert answer.status_code == 403
    assert answer.json["error_code"] == answer.json["error_name"] == 403
    assert "blazar:leases:get" in answer.json["error_message"]


@pytest.mark.parametrize(
    ("method", "rule"), [("PUT", "blazar:leases:put"), ("DELETE", "blazar:leases:delete")]
)
def test_weakness_28_a_verbs_own_rule_is_asked_about_the_stored_lease(
    conf: cfg.ConfigOpts, make_api: Callable[..., Api], tmp_path: Path, method: str, rule: str
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text('"blazar:leases:get": "@"\n')
    conf_with(conf, file)
    api = make_api()

    foreign = api.request(method, "/v1/leases/l2", roles="member", body="{}")
    own = api.request(method, "/v1/leases/l1", roles="member", body="{}")

    assert foreign.status_code == 403
    assert rule in foreign.json["error_message"]
    assert own.status_code in (200, 204)


def test_an_operators_policy_file_opens_one_list_and_not_another(
    conf: cfg.ConfigOpts, make_api: Callable[..., Api], tmp_path: Path
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text('"blazar:oshosts:get_resource_properties": "role:reader"\n')
    conf_with(conf, file)
    api = make_api()

    everything = api.get("/v1/os-hosts/properties", roles="reader", query_string="all=True")

    assert everything.json == {"resource_properties": [{"property": "gpu"}]}
    assert api.get("/v1/os-hosts", roles="reader").status_code == 403


def test_a_changed_policy_file_is_in_effect_after_a_second(
    conf: cfg.ConfigOpts, make_api: Callable[..., Api], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("{}\n")
    conf_with(conf, file)
    api, now = make_api(), 100.0

    def status(rule: str, seconds: float) -> int:
        file.write_text(f'"blazar:oshosts:get": "{rule}"\n')
        # The library compares the times of the file in whole seconds.
        os.utime(file, (2_000_000_000 + seconds, 2_000_000_000 + seconds))
        monkeypatch.setattr("blazar.api.permissions.time.monotonic", lambda: now + seconds)
        return api.get("/v1/os-hosts", roles="reader").status_code

    assert [status("@", 0), status("!", LOOKS_EVERY_SECONDS), status("@", 2)] == [200, 403, 200]


def test_the_old_defaults_can_be_restored(conf: cfg.ConfigOpts, make_api: Callable[..., Api]) -> None:
    make_policy(conf)  # Registers the options.
    conf.set_override("enforce_new_defaults", False, group="oslo_policy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api = make_api()

    assert api.put("/v1/leases/l1", roles="cook").status_code == 200
    assert api.put("/v1/leases/l2", roles="cook").status_code == 403
    assert api.get("/v1/os-hosts", roles="cook").status_code == 403


def test_policy_goes_before_the_body(api: Api) -> None:
    assert api.post("/v1/leases", roles="cook", body="{").status_code == 403
    assert api.put("/v1/leases/l2", roles="member,reader", body="{").status_code == 403


def conf_with(conf: cfg.ConfigOpts, policy_file: Path) -> None:
    make_policy(conf)  # Registers the options.
    conf.set_override("policy_file", str(policy_file), group="oslo_policy")
