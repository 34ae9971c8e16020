"""``openstack reservation`` and ``blazar`` with an openrc file and the real Keystone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cloudlab.tests.end_to_end_lab import RESERVABLE, EndToEndLab
from cloudlab.tests.floatingips import ADDRESSES

PROGRAMS = Path(sys.executable).parent
HOSTS = "resource_type=physical:host,min=1,max=1"


class Person:
    """A user at a shell, who has sourced an openrc file."""

    def __init__(self, lab: EndToEndLab, openrc: str) -> None:
        self._openrc = lab.openstack.folder.root / openrc

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Return the result of a program."""
        return subprocess.run(
            ["bash", "-c", '. "$0" && exec "$@"', str(self._openrc), str(PROGRAMS / words[0]), *words[1:]],
            capture_output=True,
            text=True,
            check=False,
            env={**{key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}, **environment},
        )

    def json(self, *words: str) -> Any:
        """Return the output of a program, which must succeed."""
        done = self.run(*words, "-f", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def lessee_at_a_shell(lab: EndToEndLab) -> Person:
    return Person(lab, "openrc-lessee")


@pytest.fixture
def operator_at_a_shell(lab: EndToEndLab) -> Person:
    return Person(lab, "openrc")


def test_a_lease_lives_its_life_by_both_programs(
    lessee_at_a_shell: Person, operator_at_a_shell: Person
) -> None:
    me = lessee_at_a_shell

    created = me.json(
        *("openstack", "reservation", "lease", "create", "by-commands", "--duration", "2h"),
        *("--reservation", HOSTS, "--wait", "--timeout", "5m"),
    )
    shown = me.json("blazar", "lease-show", "by-commands")
    prolonged = me.json("blazar", "lease-update", "by-commands", "--prolong-for", "1h30m", "--wait")
    (held,) = operator_at_a_shell.json("openstack", "reservation", "lease", "resources", created["id"])
    (seen,) = me.json("blazar", "lease-resources", "by-commands")
    deleted = me.run(
        "openstack", "reservation", "lease", "delete", "by-commands", "--wait", "--timeout", "5m"
    )

    assert (created["status"], shown["id"]) == ("ACTIVE", created["id"])
    assert prolonged["end_date"] > created["end_date"]
    assert held["resources"][0] in RESERVABLE
    assert seen["use"] == f"openstack server create --hint reservation={created['reservations'][0]['id']}"
    assert (deleted.returncode, deleted.stdout) == (0, "Deleted lease: by-commands\n")
    assert me.json("openstack", "reservation", "lease", "list") == []


def test_what_one_may_not_is_said_with_its_status(lessee_at_a_shell: Person) -> None:
    for words in (["blazar", "host-create"], ["openstack", "reservation", "host", "create"]):
        refused = lessee_at_a_shell.run(*words, "node-4")

        assert refused.returncode == 1
        assert "(HTTP 403, req-" in refused.stderr


@pytest.mark.parametrize("words", [["blazar", "lease-list"], ["openstack", "reservation", "lease", "list"]])
def test_whom_keystone_does_not_know_is_told_so_in_a_line(
    lessee_at_a_shell: Person, words: list[str]
) -> None:
    # Options take precedence over the openrc file.
    done = lessee_at_a_shell.run(words[0], "--os-password", "wrong", *words[1:])

    assert (done.returncode, done.stdout) == (1, "")
    assert "HTTP 401" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_classic_openrc_without_a_type_of_authentication_will_do(lessee_at_a_shell: Person) -> None:
    program = f"unset OS_AUTH_TYPE && exec {PROGRAMS / 'blazar'} lease-list -f json"

    done = lessee_at_a_shell.run("/bin/bash", "-c", program)

    assert (done.returncode, json.loads(done.stdout)) == (0, [])


def test_networks_are_known_by_their_names(lab: EndToEndLab, operator_at_a_shell: Person) -> None:
    network_id = lab.openstack.details.network_id
    name = lab.openstack.api("network").get(f"/v2.0/networks/{network_id}").json()["network"]["name"]

    created = operator_at_a_shell.json("blazar", "floatingip-create", name, ADDRESSES[0])
    deleted = operator_at_a_shell.run("openstack", "reservation", "floatingip", "delete", ADDRESSES[0])

    assert created["floating_network_id"] == network_id
    assert (deleted.returncode, deleted.stdout) == (0, f"Deleted floatingip: {ADDRESSES[0]}\n")


def test_a_lease_of_instances_is_planned(lessee_at_a_shell: Person) -> None:
    created = lessee_at_a_shell.json(
        *("openstack", "reservation", "lease", "create", "instances", "--start-date", "+1h"),
        *("--duration", "1h", "--reservation"),
        "resource_type=virtual:instance, vcpus=1, memory_mb=512, disk_gb=1, amount=2, affinity=False",
    )

    assert [each["affinity"] for each in created["reservations"]] == [False]
    deleted = lessee_at_a_shell.run(
        "blazar", "lease-delete", "instances", "no-such-lease", "--ignore-not-found"
    )
    assert deleted.returncode == 0
