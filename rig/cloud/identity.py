"""Keystone: tokens for all callers, the catalog, and trusts.

There is no table of users: any password is accepted, and the id of a user or a project is its name. A token
contains its user and project, so it is still valid after a restart of the cloud.
"""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudNotFound
from rig.cloud.messages import Call, Caller, Reply, Route, Service

ADMINS = frozenset({"admin", "blazar"})
"""Users with the role ``admin`` in every project; all others are members. A role implies lower ones."""
REGION = "RegionOne"
CATALOG = {
    "identity": "/identity",
    "compute": "/compute/v2.1",
    "placement": "/placement",
    "network": "/network",
    "image": "/image",
    "block-storage": "/volume",
}
"""Paths of the services, by their types."""

_ISSUED_AT = "2001-01-01T00:00:00.000000Z"
_EXPIRES_AT = "2999-01-01T00:00:00.000000Z"
_DOMAIN = {"id": "default", "name": "Default"}
_SUBJECT = "X-Subject-Token"


def caller_of(token: str | None) -> Caller | None:
    """Return the user and project of a token; None if it is not a token of this cloud."""
    try:
        user_id, project_id, *as_member = json.loads(urlsafe_b64decode(token or ""))
    except (ValueError, TypeError, binascii.Error):
        return None
    is_admin = user_id in ADMINS and not as_member
    return Caller(user_id=user_id, project_id=project_id, is_admin=is_admin)


def token_of(user_id: str, project_id: str | None, *, as_member: bool = False) -> str:
    """Return a token of a user in a project; with *as_member*, an administrator is only a member there."""
    content = [user_id, project_id, *([True] if as_member else [])]
    return urlsafe_b64encode(json.dumps(content).encode()).decode()


def _versions(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(status=300, body={"versions": {"values": [_version_of(call)]}})


def _version(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(body={"version": _version_of(call)})


def _version_of(call: Call) -> object:
    links = [{"rel": "self", "href": f"{call.base_url}/identity/v3/"}]
    return {"id": "v3.14", "status": "stable", "links": links, "media-types": []}


def _issue(cloud: SimulatedCloud, call: Call) -> Reply:
    auth = call.body["auth"]
    if "token" in auth["identity"]["methods"]:
        return _issue_in_project(cloud, call)
    user, project = auth["identity"]["password"]["user"], _project(auth)
    user_id = user.get("id") or user["name"]
    token = token_of(user_id, project)
    return Reply(status=201, body=_describe(token, call.base_url), headers={_SUBJECT: token})


def _issue_in_project(cloud: SimulatedCloud, call: Call) -> Reply:
    """Exchange a token for one in another project, in which its user is a member."""
    auth = call.body["auth"]
    caller, project = caller_of(auth["identity"]["token"]["id"]), _project(auth)
    if caller is None or project is None or not cloud.is_served(project):
        return Reply(status=401, body=_error(401, "The user has no access to the project."))
    token = token_of(caller.user_id, project, as_member=True)
    return Reply(status=201, body=_describe(token, call.base_url), headers={_SUBJECT: token})


def _project(auth: Mapping[str, Any]) -> str | None:
    scope = auth.get("scope")
    project = scope.get("project") if isinstance(scope, dict) else None
    return (project.get("id") or project["name"]) if project else None


def _validate(cloud: SimulatedCloud, call: Call) -> Reply:
    token = call.headers.get(_SUBJECT)
    if token is None or caller_of(token) is None:
        raise CloudNotFound("no such token")
    return Reply(body=_describe(token, call.base_url), headers={_SUBJECT: token})


def _describe(token: str, base_url: str) -> object:
    caller = caller_of(token)
    assert caller is not None
    roles = ["admin", "member", "reader"] if caller.is_admin else ["member", "reader"]
    described = {
        "methods": ["password"],
        "audit_ids": ["simulated"],
        "issued_at": _ISSUED_AT,
        "expires_at": _EXPIRES_AT,
        "user": {"id": caller.user_id, "name": caller.user_id, "domain": _DOMAIN},
        "roles": [{"id": each, "name": each} for each in roles],
        "catalog": [_entry(service_type, f"{base_url}{path}") for service_type, path in CATALOG.items()],
    }
    if caller.project_id is not None:
        described["project"] = {"id": caller.project_id, "name": caller.project_id, "domain": _DOMAIN}
    return {"token": described}


def _entry(service_type: str, url: str) -> object:
    endpoints = [
        {"id": each, "interface": each, "region": REGION, "region_id": REGION, "url": url}
        for each in ("public", "internal", "admin")
    ]
    return {"type": service_type, "name": service_type, "id": service_type, "endpoints": endpoints}


def _list_projects(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.projects.list_projects(call.value("name") or "")
    return Reply(body={"projects": [asdict(each) for each in found], "links": {"next": None}})


def _show_user(cloud: SimulatedCloud, call: Call) -> Reply:
    user = cloud.users.find_user(call["id"])
    if user is None:
        raise CloudNotFound(f"no user {call['id']}")
    shown = {"id": user.id, "name": user.name, "enabled": user.is_enabled, "domain_id": "default"}
    # Keystone has no key for an address that is not set.
    email = {} if user.email is None else {"email": user.email}
    return Reply(body={"user": {**shown, **email}})


def _show_trust(cloud: SimulatedCloud, call: Call) -> Reply:
    trust = cloud.trusts.find_trust(call["id"])
    if trust is None:
        raise CloudNotFound(f"no trust {call['id']}")
    return Reply(body={"trust": asdict(trust)})


def _delete_trust(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.trusts.delete_trust(call["id"])
    return Reply(status=204)


def _error(status: int, message: str) -> object:
    return {"error": {"code": status, "message": message, "title": "Error"}}


KEYSTONE = Service(
    name="identity",
    path="/identity",
    error_body=_error,
    # A caller who requests a token has none yet. Only the service itself uses trusts.
    asks_for_token=False,
    routes=(
        Route("GET", "/", _versions),
        Route("GET", "/v3", _version),
        Route("POST", "/v3/auth/tokens", _issue),
        Route("GET", "/v3/auth/tokens", _validate),
        Route("GET", "/v3/projects", _list_projects),
        Route("GET", "/v3/users/{id}", _show_user),
        Route("GET", "/v3/OS-TRUST/trusts/{id}", _show_trust),
        Route("DELETE", "/v3/OS-TRUST/trusts/{id}", _delete_trust),
    ),
)
