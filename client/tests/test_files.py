"""Leases in JSON and YAML files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blazarclient import exception, files

HOSTS = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 2,
    "hypervisor_properties": "",
    "resource_properties": "",
}
IN_YAML = """
name: night run
start_date: 2031-04-06 22:00
end_date: 2031-04-07
reservations:
- resource_type: physical:host
  min: 1
  max: 2
"""


def test_client_weakness_46_a_lease_can_be_in_a_file_of_yaml_or_json(tmp_path: Path) -> None:
    meant = {
        "name": "night run",
        "start_date": "2031-04-06 22:00",
        "end_date": "2031-04-07",
        "reservations": [HOSTS],
    }
    (tmp_path / "lease.yaml").write_text(IN_YAML)
    (tmp_path / "lease.json").write_text(json.dumps({"lease": meant}))

    assert files.read_lease(str(tmp_path / "lease.yaml")) == meant
    assert files.read_lease(str(tmp_path / "lease.json")) == meant


def test_the_output_of_lease_show_describes_the_same_lease() -> None:
    shown = {
        "id": "l",
        "name": "n",
        "status": "TERMINATED",
        "degraded": False,
        "user_id": "u",
        "project_id": "p",
        "trust_id": None,
        "start_date": "2031-04-06T22:00:00.000000",
        "end_date": "2031-04-07T06:00:00.000000",
        "created_at": "2031-01-01 10:00:00",
        "updated_at": None,
        "events": [{"event_type": "start_lease"}],
        "reservations": [
            HOSTS
            | {"id": "r", "lease_id": "l", "resource_id": "x", "status": "deleted", "before_end": "default"}
            | {"missing_resources": False, "resources_changed": False, "created_at": "", "updated_at": ""}
        ],
    }

    assert files.lease(shown) == {
        "name": "n",
        "start_date": "2031-04-06T22:00:00.000000",
        "end_date": "2031-04-07T06:00:00.000000",
        "reservations": [HOSTS | {"before_end": "default"}],
    }


def test_a_shown_flavor_reservation_is_converted_to_its_source_flavor() -> None:
    shown = {"resource_type": "flavor:instance", "id": "r", "lease_id": "l", "flavor_id": "r", "amount": 2}
    requirement = ["==", "$rack", "r1"]
    flavor = {"id": "m1", "name": "m1.small", "blazar:resource_properties": requirement}
    source = {"resource_properties": json.dumps(flavor), "affinity": None}

    (found,) = files.lease({"id": "l", "name": "n", "reservations": [shown | source]})["reservations"]

    assert found == {
        "resource_type": "flavor:instance",
        "flavor_id": "m1",
        "amount": 2,
        "affinity": "None",
        "resource_properties": json.dumps(requirement),
    }
    with pytest.raises(exception.IncorrectLease, match="does not name its source flavor"):
        files.lease({"id": "l", "name": "n", "reservations": [shown]})


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (None, "expected an object"),
        ([], "expected an object"),
        ({"nme": "n"}, "unknown keys: nme"),
        ({"reservations": {"min": 1}}, "must be a list"),
        ({"reservations": [{"resource_type": "physical:host", "mn": 1}]}, "unknown key 'mn'"),
    ],
)
def test_invalid_documents_are_refused(document: Any, reason: str) -> None:
    with pytest.raises(exception.IncorrectLease, match=reason):
        files.lease(document)


def test_the_error_for_an_unreadable_file_contains_its_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("{")

    for path in (broken, tmp_path / "missing"):
        with pytest.raises(exception.IncorrectLease, match=path.name):
            files.read_lease(str(path))


def test_a_lease_in_a_file_has_an_end_or_a_duration_and_not_both() -> None:
    assert files.lease({"name": "n", "duration": "8h"}) == {"name": "n", "duration": "8h", "reservations": []}
    with pytest.raises(exception.IncorrectLease, match="end_date and duration exclude each other"):
        files.lease({"name": "n", "duration": "8h", "end_date": "2031-01-01 10:00"})
