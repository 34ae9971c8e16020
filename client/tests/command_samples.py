"""Sample responses for tests of commands."""

from __future__ import annotations

from typing import Any

ID = "11111111-2222-3333-4444-555555555555"
OTHER = "11111111-2222-3333-4444-666666666666"
RESERVATION = {
    "min": 1,
    "max": 2,
    "hypervisor_properties": "",
    "resource_properties": '["==", "$gpu", "yes"]',
    "id": "r1",
    "lease_id": ID,
    "resource_type": "physical:host",
    "status": "pending",
    "missing_resources": False,
    "resources_changed": False,
}
EVENT = {"id": "e1", "event_type": "start_lease", "time": "2031-01-01T10:00:00.000000", "status": "UNDONE"}
LEASE: dict[str, Any] = {
    "id": ID,
    "name": "mine",
    "user_id": "u",
    "project_id": "p",
    "start_date": "2031-01-01T10:00:00.000000",
    "end_date": "2031-01-01T12:00:00.000000",
    "trust_id": None,
    "status": "PENDING",
    "degraded": False,
    "reservations": [RESERVATION],
    "events": [EVENT],
}
HOST = {
    "id": "1",
    "hypervisor_hostname": "node-1",
    "vcpus": 4,
    "memory_mb": 8192,
    "local_gb": 100,
    "gpu": "yes",
}
HOSTS_ARGUMENT = "resource_type=physical:host,min=1,max=2"
HOSTS = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 2,
    "hypervisor_properties": "",
    "resource_properties": "",
}
WHEN = ("--start-date", "2031-01-01 10:00", "--end-date", "2031-01-01 12:00")
