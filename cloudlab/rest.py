"""Clients of the lab's APIs for one of its users."""

from __future__ import annotations

from typing import Any

import requests
from keystoneauth1.adapter import Adapter
from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session

from cloudlab.plan import REGION, Plan
from cloudlab.probes import USER_AGENT

_TIMEOUT_SECONDS = 60


def make_session(auth_url: str, user: str, password: str, project: str) -> Session:
    """Return a session for a user of the domain Default, scoped to a project; it sends no request yet."""
    direct = requests.Session()
    # Ignore proxies and ~/.netrc.
    direct.trust_env = False
    auth = Password(
        auth_url=auth_url,
        username=user,
        password=password,
        project_name=project,
        user_domain_name="Default",
        project_domain_name="Default",
    )
    return Session(auth=auth, session=direct, timeout=_TIMEOUT_SECONDS, user_agent=USER_AGENT)


def admin_session(plan: Plan) -> Session:
    """Return a session of the administrator."""
    return make_session(plan.auth_url, "admin", plan.passwords["admin"], "admin")


def make_adapter(session: Session, service_type: str) -> Adapter:
    """Return a client of the service that the catalogue has for a type."""
    return Adapter(
        session=session, service_type=service_type, interface="public", region_name=REGION, raise_exc=True
    )


def list_objects(api: Adapter, path: str, key: str) -> list[dict[str, Any]]:
    """Return the objects that the response to a GET has under a key."""
    found: list[dict[str, Any]] = api.get(path).json()[key]
    return found


def ensure(
    api: Adapter, path: str, collection: str, key: str, body: dict[str, Any], **query: str
) -> dict[str, Any]:
    """Return the object that matches a query; create it if there is none.

    Args:
        api: The client.
        path: The path of the collection.
        collection: The key of the list in the response.
        key: The key of an object in requests and responses; empty if there is no such key.
        body: The body that creates the object.
        query: The query; at most one object may match.
    """
    found = api.get(path, params=query).json()[collection]
    if found:
        return dict(found[0])
    made = api.post(path, json={key: body} if key else body).json()
    return dict(made[key] if key else made)


def is_there(api: Adapter, path: str) -> bool:
    """Return whether an object exists at a path."""
    return bool(api.get(path, raise_exc=False).ok)
