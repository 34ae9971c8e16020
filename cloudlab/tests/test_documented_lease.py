"""The example of one lease for hosts, a network and a floating IP, typed as the page for lessees has it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from cloudlab.folder import REPOSITORY
from cloudlab.tests.actors import Actor, Operator, in_minutes
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.floatingips import ADDRESSES, AddressPool
from cloudlab.tests.networks import Neutron, Segments

PAGE: Final = REPOSITORY / "doc" / "lessees" / "reserve.md"
HEADING: Final = "### One lease for hosts, a network and a floating IP"
FLAVOR: Final = "m1.large"
IMAGE: Final = "debian"
HOSTS: Final = ("node-1", "node-10")
FABRIC: Final[dict[str, Any]] = {"fabric": "a"}


def example() -> tuple[dict[str, Any], str]:
    """Return the body of the request and the commands."""
    text = PAGE.read_text().partition(HEADING)[2].partition("\n## ")[0]
    body, commands = re.findall(r"^```(?:json|sh)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return json.loads(body), commands


@pytest.fixture
def fabric(lab: EndToEndLab, operator: Operator) -> Iterator[Segments]:
    """Register VLANs of a fabric, and give two hosts the same property."""
    ids = [operator.registered()[name]["id"] for name in HOSTS]
    segments = Segments(lab)
    segments.register(**FABRIC)
    for each in ids:
        operator.blazar.host.update(each, FABRIC)
    yield segments
    lab.clear()
    for each in ids:
        operator.blazar.host.update(each, dict.fromkeys(FABRIC))
    segments.deregister()


@pytest.fixture
def named(operator: Operator) -> Iterator[None]:
    """Create the flavor and the image of the example."""
    sizes = {"vcpus": 1, "ram": 64, "disk": 1}
    operator.compute.post("/flavors", json={"flavor": {"id": FLAVOR, "name": FLAVOR, **sizes}})
    formats = {"disk_format": "raw", "container_format": "bare"}
    image = operator.images.post("/v2/images", json={"name": IMAGE, "visibility": "public", **formats}).json()
    content = {"Content-Type": "application/octet-stream"}
    operator.images.put(f"{image['file']}", data=bytes(1024), headers=content)
    yield
    operator.images.delete(f"/v2/images/{image['id']}")
    operator.compute.delete(f"/flavors/{FLAVOR}")


def type_commands(lab: EndToEndLab, commands: str) -> None:
    """Run the commands in the shell of a lessee; each must succeed."""
    openrc = lab.openstack.folder.root / "openrc-lessee"
    done = subprocess.run(
        ["bash", "-c", f". {openrc}\nPATH={Path(sys.executable).parent}:$PATH\nset -ex\n{commands}"],
        capture_output=True,
        text=True,
        check=False,
        env={key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ},
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.long
@pytest.mark.usefixtures("named")
def test_the_documented_lease_of_hosts_a_network_and_a_floating_ip(
    lab: EndToEndLab, operator: Operator, lessee: Actor, fabric: Segments, pool: AddressPool
) -> None:
    body, commands = example()
    external = lab.openstack.details.network_id
    text = json.dumps(body).replace("<external network id>", external)
    dates = {"start_date": "now", "end_date": in_minutes(60).strftime("%Y-%m-%d %H:%M")}

    lease = lessee.reservations.post("/leases", json={**json.loads(text), **dates}).json()["lease"]
    lessee.wait_for_lease(lease, "ACTIVE")
    held = {
        each["resource_type"]: (each["reservation_id"], each["resources"])
        for each in lessee.blazar.lease.resources(lease["id"])
    }
    hosts, (address,) = held["physical:host"][0], held["virtual:floatingip"][1]
    assert address["name"] in ADDRESSES
    commands = commands.replace("<reservation of hosts>", hosts).replace("203.0.113.50", address["name"])
    type_commands(lab, commands)

    servers = {each["name"]: each for each in operator.servers()}
    assert servers.keys() == {"node-1", "node-2"}
    assert {each["OS-EXT-SRV-ATTR:host"] for each in servers.values()} <= {*HOSTS} == operator.hosts_of(lease)
    ((_, network),) = fabric.existing().items()
    ports = {name: lessee.interfaces(each["id"]) for name, each in servers.items()}
    assert {port["net_id"] for each in ports.values() for port in each} == {network["id"]}
    attached = pool.existing()[address["name"]]
    assert [each["port_id"] for each in ports["node-1"]] == [attached["port_id"]]

    lessee.end_now(lease)

    assert all(lessee.is_gone(each["id"]) for each in servers.values())
    assert (fabric.existing(), pool.existing()) == ({}, {})
    neutron = Neutron(lab)
    assert neutron.ids("port") == set()
    (router,) = neutron.ids("router")
    neutron.delete("router", router)
