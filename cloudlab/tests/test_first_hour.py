"""The guide for the first hour: a second installation takes the place of the lab's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from cloudlab import plan as plans
from cloudlab import probes
from cloudlab.blazar import TOPIC
from cloudlab.plan import Plan
from cloudlab.tests.end_to_end_lab import RESERVABLE, EndToEndLab
from cloudlab.tests.first_hour import NAME, POOL, Shell, blocks_of_the_guide
from cloudlab.waiting import wait_until
from rig.units import Units

HOST = "node-4"
"""A host that the lab's own service has not registered."""
LABS_OWN = ("blazar-manager-1", "blazar-manager-2", "blazar-api")


@pytest.fixture
def plan(lab: EndToEndLab) -> Plan:
    found = plans.read(lab.openstack.folder)
    assert found is not None
    return found


@pytest.fixture
def without_blazar(lab: EndToEndLab) -> Iterator[None]:
    """Stop the lab's own service for a test. Its managers would sweep the other installation's objects."""
    services = [lab.openstack.service(name) for name in LABS_OWN]
    for each in reversed(services):
        each.stop()
    yield
    for each in services:
        each.start()
    for each in services:
        each.wait_until_answers()


@pytest.fixture
def shell(lab: EndToEndLab, plan: Plan, without_blazar: None, tmp_path: Path) -> Iterator[Shell]:
    """Yield a shell of the lab's administrator; remove afterwards what the guide makes in the cloud."""
    # The account of the lab's database server, for the client program.
    (tmp_path / ".my.cnf").write_text(
        f"[client]\nprotocol=tcp\nhost=127.0.0.1\nport={plan.ports['mariadb']}\n"
        f"user=cloudlab\npassword={plan.passwords['mariadb']}\n"
    )
    found = Shell(lab.openstack.folder.root / "openrc", tmp_path)
    yield found
    found.try_to(
        "\n".join(
            [
                "openstack server delete --wait first-server",
                f"openstack service delete {NAME}",
                f"openstack user delete {NAME}",
                f"openstack aggregate remove host {POOL} {HOST}",
                f"openstack aggregate delete {POOL}",
                f"mariadb --execute 'DROP DATABASE IF EXISTS {NAME}; DROP USER IF EXISTS {NAME}'",
            ]
        )
    )


@pytest.fixture
def units(shell: Shell) -> Iterator[Units]:
    found = Units(shell.folder / "units", shell.folder)
    yield found
    found.stop()


def values_of(lab: EndToEndLab, plan: Plan) -> str:
    """Return the first block of the guide, with the values of the lab."""
    details = lab.openstack.details
    return "\n".join(
        [
            f"HOST={HOST}",
            # The address in the catalogue, where the lab's own API does not listen now.
            f"API_URL={details.urls['blazar-api']}",
            "NOVA_PIP=none",
            f"DATABASE=127.0.0.1:{plan.ports['mariadb']}",
            f"TRANSPORT_URL={details.transport_url}",
            "BLAZAR_PASSWORD=a-password DATABASE_PASSWORD=another-password",
            f"FLAVOR={details.flavor_id} IMAGE={details.image_id} NETWORK=none",
        ]
    )


def responds(url: str) -> bool:
    try:
        return requests.get(f"{url}/", timeout=5).status_code < 500
    except requests.RequestException:
        return False


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_guide_leads_to_a_lease_with_a_server(
    lab: EndToEndLab, plan: Plan, shell: Shell, units: Units
) -> None:
    account, database, wheels, play, lease, server, end = blocks_of_the_guide()
    assert HOST not in RESERVABLE
    shell.type(values_of(lab, plan))

    for each in (account, database, wheels, play):
        shell.type(each)
    # The role leaves that to systemd, which does not run here.
    units.start("blazar-manager.service")
    units.start("blazar-api.service")
    url = lab.openstack.details.urls["blazar-api"]
    wait_until(lambda: responds(url), "the API of the guide responds", seconds=60, explain=units.log)
    wait_until(lambda: probes.consumers(plan, TOPIC) > 0, "its manager serves", seconds=60, explain=units.log)

    reserved = shell.type(lease)
    assert "ACTIVE" in reserved, units.log()
    assert HOST in reserved
    assert HOST in shell.type(server)
    shell.type("openstack server delete --wait first-server")
    assert "Deleted lease" in shell.type(end)
    assert shell.type("blazar lease-list --format value").strip() == ""
    shell.type(f"blazar host-delete {HOST}")
