"""Commands and programs against the embedded service."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import running

if TYPE_CHECKING:
    from .conftest import Run

HOSTS = "resource_type=physical:host,min=1,max=1"


def unique(name: str) -> str:
    return f"{name}-{uuid.uuid4().hex[:8]}"


def on(host: str) -> str:
    return f'{HOSTS},resource_properties=["==", "$only", "{host}"]'


def test_a_lease_is_created_prolonged_ended_and_deleted(embedded: Run, host: str) -> None:
    name = unique("life")

    created = embedded(
        "lease-create", name, "--duration", "2h", "--reservation", on(host), "--wait", "-f", "json"
    )
    held = embedded("lease-resources", name, "-f", "json")
    prolonged = embedded("lease-update", name, "--prolong-for", "1d12h", "--wait", "-f", "json")
    ended = embedded("lease-update", name, "--end-date", "now", "--wait", "--timeout", "60", "-f", "json")
    deleted = embedded("lease-delete", name, "--wait")

    assert (created.code, created.json["status"]) == (0, "ACTIVE")
    assert held.json[0]["resources"] == [host]
    assert prolonged.json["end_date"] > created.json["end_date"]
    assert (ended.code, ended.json["status"]) == (0, "TERMINATED")
    assert (deleted.code, deleted.out) == (0, f"Deleted lease: {name}\n")
    assert embedded("lease-show", name).code == 1


def test_waiting_for_a_future_lease_ends_when_it_is_scheduled(embedded: Run, host: str) -> None:
    name = unique("future")

    ran = embedded(
        *("lease-create", name, "--start-date", "tomorrow 09:00", "--duration", "1h"),
        *("--reservation", on(host), "--wait", "-f", "value", "-c", "status"),
    )

    assert (ran.code, ran.out) == (0, "Created a new lease:\nPENDING\n")
    assert embedded("lease-delete", name).code == 0


def test_a_reservation_without_enough_hosts_is_refused_with_the_reason(embedded: Run, host: str) -> None:
    ran = embedded("lease-create", unique("greedy"), "--reservation", on(host).replace("=1", "=7"))

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("ERROR: Not enough hosts available")
    assert "(HTTP 400, req-" in ran.err


def test_a_lease_can_be_created_again_from_the_output_of_show(
    embedded: Run, host: str, tmp_path: Path
) -> None:
    name, again = unique("first"), unique("again")
    dates = ("--start-date", "2031-01-01 10:00", "--end-date", "2031-01-01 12:00")
    embedded("lease-create", name, *dates, "--reservation", on(host))
    (tmp_path / "lease.json").write_text(embedded("lease-show", name, "-f", "json").out)
    embedded("lease-delete", name)

    ran = embedded("lease-create", again, "--from-file", str(tmp_path / "lease.json"), "-f", "json")

    assert ran.code == 0, ran.err
    assert (ran.json["name"], ran.json["start_date"]) == (again, "2031-01-01T10:00:00.000000")
    assert ran.json["reservations"][0]["resource_properties"] == f'["==", "$only", "{host}"]'
    embedded("lease-delete", again)


def test_an_unmodified_script_of_4_6_works(service: str, environment: pytest.MonkeyPatch, host: str) -> None:
    environment.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    script = r"""
    set -e
    wanted='["==", "$only", "'$HOST_NAME'"]'
    blazar lease-create --physical-reservation "min=1,max=1,resource_properties=$wanted" \
        --start-date "2031-01-01 10:00" --end-date "2031-01-01 12:00" script-lease > created
    blazar lease-list -f value -c name | grep -qx script-lease
    id=$(blazar lease-show script-lease -f value -c id)
    reservation=$(blazar lease-show script-lease -f value -c reservations | grep -m1 '"id"' | cut -d '"' -f 4)
    blazar lease-update --prolong-for 1h "$id"
    blazar host-show "$HOST_NAME" -f value -c id > host-id
    blazar allocation-show host "$HOST_NAME" --reservation-id "$reservation" -f value -c resource_id
    [ "$(blazar lease-show "$id" -f value -c status)" = PENDING ]
    blazar lease-delete script-lease
    echo "$id $reservation"
    """
    environment.setenv("HOST_NAME", host)
    environment.setenv("OS_AUTH_TYPE", "none")
    environment.setenv("OS_ENDPOINT", service)

    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Updated lease: ")
    assert lines[2] == "Deleted lease: script-lease"
    assert [len(each) for each in lines[3].split()] == [36, 36]
    assert Path("created").read_text().startswith("Created a new lease:\n+-")


def test_hosts_and_their_properties_are_managed(embedded: Run, host: str) -> None:
    key = unique("rack").replace("-", "_")

    embedded("host-update", host, "--extra", f"{key}=r1")
    shown = embedded("host-show", host, "-f", "json").json
    private = embedded("host-property-set", key, "--private")
    found = embedded("host-property-show", key, "-f", "json").json
    embedded("host-unset", host, "--extra", key)

    assert shown[key] == "r1"
    assert private.out == f"Updated host property: {key}\n"
    assert found == {"property": key, "private": True, "property_values": ["r1"]}
    assert key not in embedded("host-show", host, "-f", "json").json


def test_floating_ips_are_found_by_address(embedded: Run, service: str) -> None:
    network = unique("no-network")

    refused = embedded("floatingip-create", network, "203.0.113.77")
    absent = embedded("floatingip-delete", "203.0.113.77", "--ignore-not-found")

    assert refused.code == 1
    assert network in refused.err
    assert absent.code == 0


def test_openstack_works_with_the_embedded_service(
    service: str, environment: pytest.MonkeyPatch, host: str
) -> None:
    command = [
        str(Path(sys.executable).with_name("openstack")),
        "--os-auth-type",
        "none",
        "--os-endpoint",
        service,
    ]

    done = subprocess.run(
        [*command, "reservation", "host", "list", "-f", "json"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert host in {each["hypervisor_hostname"] for each in json.loads(done.stdout)}


def test_http_basic_authentication_works_with_the_embedded_service(embedded: Run, tmp_path: Path) -> None:
    users = tmp_path / "htpasswd"
    # The password is "secret".
    users.write_text("ann:$2b$04$GwlqI6bj/4BP0GIY19P5j.uyY2C6aiLDVpm8jQ7LQ1vGTiybj8T36:admin\n")
    options = f"auth_strategy = http_basic\nhttp_basic_auth_user_file = {users}"
    with running(tmp_path, options) as url:
        who = ("--os-auth-type", "http_basic", "--os-endpoint", url, "--os-username", "ann", "--os-password")

        known, stranger = (
            embedded(*who, "secret", "lease-list", "-f", "json"),
            embedded(*who, "no", "lease-list"),
        )

    assert known.json == []
    assert stranger.code == 1
    assert "HTTP 401" in stranger.err
