"""Sections used in several configuration files."""

from __future__ import annotations

from collections.abc import Mapping

from cloudlab.files import Option, Sections
from cloudlab.plan import REGION, Plan

LOGGING: Mapping[str, Option] = {"use_stderr": True, "log_color": False}


def credentials(plan: Plan, user: str) -> Mapping[str, Option]:
    """Return the options of keystoneauth for a service's user."""
    return {
        "auth_type": "password",
        "auth_url": plan.auth_url,
        "username": user,
        "password": plan.passwords[user],
        "user_domain_name": "Default",
        "project_name": "service",
        "project_domain_name": "Default",
    }


def client(plan: Plan, user: str) -> Mapping[str, Option]:
    """Return the options of a client of another service, found in the catalogue."""
    return {**credentials(plan, user), "region_name": REGION, "valid_interfaces": "internal"}


def keystone_middleware(plan: Plan, user: str) -> Sections:
    """Return the section of an API whose tokens Keystone validates."""
    options = {
        **credentials(plan, user),
        "www_authenticate_uri": plan.auth_url,
        "region_name": REGION,
        "service_token_roles": "service",
        "service_token_roles_required": True,
    }
    return {"keystone_authtoken": options}


def database(plan: Plan, name: str, section: str = "database") -> Sections:
    """Return the section of a database; services wait for a server that is not available."""
    return {section: {"connection": plan.database_url(name), "max_retries": -1, "retry_interval": 1}}


def message_bus(*, notifies: bool = False) -> Sections:
    """Return sections with which broken connections to the broker are soon opened again.

    Args:
        notifies: Whether notifications are sent. Their queues have no consumer.
    """
    return {
        "oslo_messaging_rabbit": {
            "kombu_reconnect_delay": "0.5",
            "rabbit_retry_interval": 1,
            "rabbit_retry_backoff": 1,
            "rabbit_interval_max": 5,
        },
        "oslo_messaging_notifications": {"driver": "messagingv2" if notifies else "noop"},
    }
