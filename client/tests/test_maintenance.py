"""Maintenance in the library and the commands, on the embedded service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session

from blazarclient.v1.client import Client

from .test_embedded_service import on, unique

if TYPE_CHECKING:
    from .conftest import Run, Stub


def asked(host: str) -> tuple[str, ...]:
    return ("--start-date", "+2d", "--duration", "2h", "--reservation", on(host))


def names(found: object) -> list[str]:
    assert isinstance(found, list)
    return [each["name"] for each in found]


def test_maintenance_is_planned_changed_and_ended(embedded: Run, host: str) -> None:
    shown = embedded("maintenance-create", host, "--end-date", "+3d", "--dry-run", "-f", "json")
    listed = embedded("maintenance-list", "-f", "json").json
    made = embedded(
        "maintenance-create", host, "--start-date", "+1d", "--end-date", "+3d", "--reason", "new disks"
    )
    (found,) = [
        each
        for each in embedded("maintenance-list", "-f", "json").json
        if names(each["resources"]) == [host] and each["status"] == "PLANNED"
    ]
    refused = embedded("lease-create", unique("kept-away"), *asked(host))

    assert names(shown.json["resources"]) == [host]
    assert shown.json["id"] not in [each["id"] for each in listed]
    assert "Nothing was changed" in shown.err
    assert made.out.startswith("Created a new maintenance:\n")
    assert "new disks" in made.out
    assert (refused.code, "Not enough hosts" in refused.err) == (1, True)

    changed = embedded("maintenance-update", found["id"], "--no-end", "--reason", "older disks")
    shown = embedded("maintenance-show", found["id"], "-f", "json")
    assert changed.out == f"Updated maintenance: {found['id']}\n"
    assert (shown.json["end_date"], shown.json["reason"]) == (None, "older disks")
    assert embedded("maintenance-update", found["id"]).err == "No change is given\n"

    assert embedded("maintenance-end", found["id"]).out == f"Ended maintenance: {found['id']}\n"
    assert embedded("maintenance-show", found["id"], "-f", "json").json["status"] == "ENDED"
    name = unique("allowed")
    assert embedded("lease-create", name, *asked(host)).code == 0
    embedded("lease-delete", name, "--wait")
    assert embedded("maintenance-delete", found["id"]).code == 0
    assert embedded("maintenance-show", found["id"]).code == 1


def test_hosts_are_drained_and_come_back(embedded: Run, host: str) -> None:
    name = unique("stays")
    embedded("lease-create", name, *asked(host))

    drained = embedded("host-drain", host, "--reason", "new disks")
    again = embedded("host-undrain", host)
    unknown = embedded("host-undrain", host)

    assert drained.code == 0, drained.err
    assert f"{name} (" in drained.out.replace("\n", "")
    assert again.out == f"Leases can have host {host} again\n"
    assert (unknown.code, "Not under maintenance" in unknown.err) == (1, True)
    embedded("lease-delete", name, "--wait")


def test_one_of_several_drained_hosts_comes_back(embedded: Run, host: str) -> None:
    registered = {each["hypervisor_hostname"] for each in embedded("host-list", "-f", "json").json}
    first, second = host, next(each for each in ("host-1", "host-2", "host-3") if each not in registered)
    assert embedded("host-create", second).code == 0
    made = embedded("host-drain", first, second, "-f", "json").json

    embedded("host-undrain", first)

    assert names(embedded("maintenance-show", made["id"], "-f", "json").json["resources"]) == [second]
    embedded("host-undrain", second)
    assert embedded("maintenance-show", made["id"], "-f", "json").json["status"] == "ENDED"
    embedded("host-delete", second)


def test_the_library_selects_hosts_by_a_requirement(service: str, host: str) -> None:
    library = Client(session=ksa_session.Session(auth=noauth.NoAuth(endpoint=service)))

    made = library.maintenance.create(requirement=f"only={host}", end="2099-01-01 00:00")

    assert names(made["resources"]) == [host]
    assert (made["moves"], made["end_date"]) == ([], "2099-01-01T00:00:00.000000")
    assert library.maintenance.get(made["id"])["status"] == "ACTIVE"
    assert made["id"] in [each["id"] for each in library.maintenance.list(sort_by="start_date")]
    library.maintenance.delete(made["id"])


def held(embedded: Run, name: str) -> list[str]:
    (found,) = embedded("lease-resources", name, "-f", "json").json
    resources: list[str] = found["resources"]
    return resources


def test_a_broken_host_is_replaced(embedded: Run, host: str) -> None:
    registered = {each["hypervisor_hostname"] for each in embedded("host-list", "-f", "json").json}
    spare = next(each for each in (f"host-{n}" for n in range(1, 9)) if each not in registered)
    assert embedded("host-create", spare, "--extra", f"only={host}").code == 0
    name = unique("broken")
    embedded("lease-create", name, *asked(host))
    (own,) = held(embedded, name)

    replaced = embedded("lease-replace", name, own, "--reason", "no network")
    unknown = embedded("lease-replace", name, own)

    (now,) = held(embedded, name)
    assert {own, now} == {host, spare}
    assert replaced.out.startswith(f"Replaced {own} in lease {name}")
    assert (unknown.code, "No reservation of the lease holds all" in unknown.err) == (1, True)
    embedded("lease-delete", name, "--wait")
    embedded("host-delete", spare)


@pytest.mark.parametrize(
    ("resource", "plural"),
    [("maintenance", "maintenances"), ("subscription", "subscriptions"), ("offer", "offers")],
)
def test_records_without_a_name_are_found_by_a_prefix_of_the_id(
    blazar: Run, stub: Stub, resource: str, plural: str
) -> None:
    record = {"id": "11111111-2222-3333-4444-555555555555", "resources": []}
    stub.respond({plural: [record]})
    stub.respond({resource: record})
    stub.respond({plural: [record]})

    found = blazar(f"{resource}-show", "11111111", "-f", "value", "-c", "id")
    missing = blazar(f"{resource}-show", "name")

    assert (found.code, found.out) == (0, f"{record['id']}\n")
    assert (missing.code, "with name 'name'" in missing.err) == (1, True)
