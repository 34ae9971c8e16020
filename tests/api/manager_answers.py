"""Objects as a manager returns them, for the API's tests."""

from __future__ import annotations

DATE = "2031-04-05 20:00"
STAMP = "2031-04-01 09:15:42"
INSTANT = "2031-04-01T09:15:42.123456"

CATALOGUE = {
    "region": None,
    "resource_types": [
        {
            "resource_type": "physical:host",
            "keys": ["min", "max"],
            "unit": "host",
            "unit_keys": [],
            "choices": None,
            "has_count": True,
            "reservable": 2,
            "end_texts": [
                {"key": "before_end", "value": "snapshot", "text": "A copy is made.", "before_end": True},
                {"key": None, "value": None, "text": "Servers are deleted.", "before_end": False},
            ],
        },
        {
            "resource_type": "software:licence",
            "keys": None,
            "unit": "seat",
            "unit_keys": ["size"],
            "choices": {"plan_id": [{"id": "1", "name": "small"}]},
            "has_count": False,
            "reservable": 0,
            "end_texts": [],
        },
    ],
    "properties": [
        {
            "property": "gpu",
            "resource_types": ["physical:host"],
            "built_in": False,
            "private": False,
            "values": [{"value": "a100", "reservable": 1}],
        }
    ],
    "availability_zones": [{"name": "nova", "reservable": 2}],
    "limits": {
        "longest_lease_minutes": None,
        "rules": [
            {
                "name": "gpu",
                "kind": "longest",
                "resource_types": ["physical:host"],
                "covers_all_resources": False,
                "resources": "gpu=a100",
                "summary": "physical:host with gpu=a100: a lease lasts at most 3 days",
                "limit": {"longest_minutes": 4320},
            }
        ],
        "reservations_per_lease": 10,
        "conditions_per_lease": 100,
        "amount_per_lease": None,
        "quotas": [{"name": "leases", "used": 1, "limit": 5, "left": 4}],
    },
    "cleaning_time_minutes": 0,
    "before_end_lead_minutes": 60,
    "longest_period_days": 366,
    "subscription_kinds": ["mail"],
}

OFFER = {
    "id": "o1",
    "name": "",
    "status": "OPEN",
    "expires_at": INSTANT,
    "user_id": "u1",
    "project_id": "p1",
    "start_date": INSTANT,
    "end_date": INSTANT,
    "before_end_date": None,
    "lease_id": None,
    "created_at": INSTANT,
    "expiry_notice": True,
    "reservations": [{"id": "r1", "resource_type": "physical:host", "amount": 1}],
}


def lease(lease_id: str, project_id: str | None = "p1", **changes: object) -> dict[str, object]:
    """Return a lease as a manager returns it."""
    stamps = {"created_at": STAMP, "updated_at": None}
    return {
        "id": lease_id,
        "name": "render-farm-night",
        "user_id": "u1",
        "project_id": project_id,
        "start_date": "2031-04-05T20:00:00.000000",
        "end_date": "2031-04-06T06:00:00.000000",
        "trust_id": None,
        "status": "PENDING",
        "degraded": False,
        "reservations": [
            {
                "id": "r1",
                "lease_id": lease_id,
                "resource_id": None,
                "resource_type": "physical:host",
                "status": "pending",
                "missing_resources": False,
                "resources_changed": False,
                "hypervisor_properties": "",
                "resource_properties": "",
                "before_end": "default",
                "min": 1,
                "max": 2,
                **stamps,
            }
        ],
        "events": [
            {
                "id": "e1",
                "lease_id": lease_id,
                "event_type": "start_lease",
                "time": "2031-04-05T20:00:00.000000",
                "status": "UNDONE",
                **stamps,
            }
        ],
        **stamps,
        **changes,
    }


def host(host_id: str, **capabilities: object) -> dict[str, object]:
    """Return a host as a manager returns it."""
    return {
        "id": host_id,
        "hypervisor_hostname": f"compute-{host_id}",
        "service_name": f"compute-{host_id}",
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8002000,
        "vcpus": 64,
        "memory_mb": 262144,
        "local_gb": 2000,
        "cpu_info": '{"arch": "x86_64"}',
        "availability_zone": "",
        "status": None,
        "reservable": True,
        "trust_id": None,
        "created_at": STAMP,
        "updated_at": None,
        **capabilities,
    }


def floatingip(floatingip_id: str) -> dict[str, object]:
    """Return a floating IP as a manager returns it."""
    return {
        "id": floatingip_id,
        "floating_network_id": "n1",
        "subnet_id": "s1",
        "floating_ip_address": "203.0.113.200",
        "reservable": True,
        "created_at": STAMP,
        "updated_at": None,
    }


SUBSCRIPTION: dict[str, object] = {
    "id": "s1",
    "kind": "webhook",
    "scope": "project",
    "project_id": "p1",
    "user_id": "u1",
    "lease_id": None,
    "events": ["lease.started"],
    "url": "https://hooks.example.org/",
    "address": None,
    "lead_minutes": [60],
    "time_zone": "UTC",
    "language": "en",
    "resource_type": None,
    "below": None,
    "waits_minutes": None,
    "enabled": True,
    "confirmed": True,
    "default": False,
    "problem": None,
    "failing_since": None,
    "succeeded_at": INSTANT,
    "created_at": "2031-04-05 06:07:08",
    "updated_at": None,
}
DELIVERY: dict[str, object] = {
    "id": "d1",
    "event": "lease.started",
    "lease_id": "l1",
    "status": "waiting",
    "attempts": 1,
    "problem": "answered with 500",
    "created_at": INSTANT,
}
MAINTENANCE: dict[str, object] = {
    "id": "m1",
    "resource_type": "physical:host",
    "reason": "new disks",
    "status": "PLANNED",
    "start_date": INSTANT,
    "end_date": None,
    "leave_pool": False,
    "user_id": "operator",
    "created_at": "2031-04-05 06:07:08",
    "resources": [{"id": "1", "name": "host-1"}],
    "moves": [],
    "active": [],
    "unmovable": [],
}

FEED = {
    "id": "c1",
    "kind": "project",
    "name": "",
    "user_id": "u1",
    "project_id": "p1",
    "lease_id": None,
    "resource_type": None,
    "filter": None,
    "unit": None,
    "group_by": None,
    "group": None,
    "amount": None,
    "alarm_minutes": None,
    "created_at": INSTANT,
    "expires_at": INSTANT,
    "last_used_on": "2031-04-05",
}
