"""The state of the lab before and after end-to-end tests: some registered hosts, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from blazarclient.exception import NotFound
from cloudlab.lab import OpenStackLab
from cloudlab.tests.actors import Actor, Operator
from cloudlab.tests.slots import SlotView
from cloudlab.waiting import wait_until

RESERVABLE: Final = ("node-1", "node-2", "node-3", "node-10")
"""The hosts that tests reserve; node-4 and node-5 stay ordinary hosts."""
_SECONDS_TO_SETTLE: Final = 90


@dataclass(frozen=True, slots=True)
class EndToEndLab:
    """The lab, its users, and its expected state."""

    openstack: OpenStackLab
    operator: Operator
    lessee: Actor
    other: Actor

    @property
    def slots(self) -> SlotView:
        """Return the objects for reservations of instances."""
        return SlotView(self.operator)

    def clear(self) -> None:
        """Remove all leases and servers, and register the expected hosts."""
        for lease in self.operator.blazar.lease.list():
            try:
                self.operator.blazar.lease.delete(lease["id"])
            except NotFound:
                continue
        for server in self.operator.servers():
            self.operator.compute.delete(f"/servers/{server['id']}", raise_exc=False)
        for name in sorted({*RESERVABLE} - self.operator.registered().keys()):
            self._register(name)

    def remove_host(self, name: str) -> None:
        """Remove a host from the service."""
        self.operator.blazar.host.delete(self.operator.registered()[name]["id"])

    def refresh_hosts(self, *names: str) -> str:
        """Run ``blazar-manage host refresh``; return what it printed."""
        return self.manage("host", "refresh", *names)

    def list_hosts(self) -> str:
        """Run ``blazar-manage host list``; return what it printed."""
        return self.manage("host", "list")

    def check_floatingips(self, *, found: bool = True) -> str:
        """Run ``blazar-manage floatingip check``; return what it printed.

        Args:
            found: Whether the check must find a problem.
        """
        return self.manage("floatingip", "check", found=found)

    def history(self, lease_id: str) -> str:
        """Run ``blazar-manage lease history``; return what it printed."""
        return self.manage("lease", "history", lease_id)

    def show_quota(self, project_id: str) -> str:
        """Run ``blazar-manage quota show``; return what it printed."""
        return self.manage("quota", "show", project_id)

    def manage(self, *arguments: str, found: bool = False) -> str:
        """Run a command of blazar-manage that must succeed, or exit with 1 if *found*; return its output."""
        done = self._run("blazar-manage", *arguments)
        assert done.returncode == int(found), done
        return done.stdout

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        conf = self.openstack.folder.etc("blazar") / "blazar.conf"
        command = [str(Path(sys.executable).with_name(program)), "--config-file", str(conf), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def check_cloud(self, nova_conf: str) -> str:
        """Run ``blazar-status check cloud``, which must find no problem; return what it printed, as JSON."""
        done = self._run("blazar-status", "check", "cloud", "--json", "--nova-conf", nova_conf)
        assert done.returncode == 0, done
        return done.stdout

    def forget_providers(self, name: str) -> None:
        """Restart a host's nova-compute: it fails to build servers while it caches a deleted provider."""
        compute = self.openstack.service(f"nova-compute-{name}")
        compute.stop()
        compute.start()
        compute.wait_until_answers()

    def check_nothing_is_left(self) -> None:
        """Wait until no service has objects of any lease.

        Raises:
            LabError: Objects still exist after the timeout.
        """
        wait_until(
            lambda: not self.leftovers(),
            "nothing is left over",
            seconds=_SECONDS_TO_SETTLE,
            explain=lambda: "\n".join(self.leftovers()),
        )

    def leftovers(self) -> list[str]:
        """Return descriptions of all objects that should not exist."""
        aggregates = self.operator.aggregates()
        freepool = aggregates.pop(self.openstack.details.freepool)
        found = [f"lease {each['id']} is {each['status']}" for each in self.operator.blazar.lease.list()]
        found += [f"aggregate {name} with {each['hosts']}" for name, each in aggregates.items()]
        found += [f"server {each['id']} is {each['status']}" for each in self.operator.servers()]
        found += [f"the freepool bears {key}" for key in freepool["metadata"]]
        found += self.slots.leftovers()
        found += [f"floating IP {each['floating_ip_address']}" for each in self.operator.floating_ips()]
        found += [f"volume type {name}" for name in self.operator.private_volume_types()]
        if set(freepool["hosts"]) != set(RESERVABLE):
            found.append(f"the freepool has {freepool['hosts']}")
        hosts = self.operator.registered()
        found += [f"{name} is not reservable" for name, each in hosts.items() if not each["reservable"]]
        return found

    def _register(self, name: str) -> None:
        wait_until(lambda: not self._servers_on(name), f"{name} is empty", seconds=_SECONDS_TO_SETTLE)
        self.operator.blazar.host.create(name)

    def _servers_on(self, host: str) -> list[str]:
        return [each["id"] for each in self.operator.servers() if each["OS-EXT-SRV-ATTR:host"] == host]


def make_lab(openstack: OpenStackLab) -> EndToEndLab:
    """Return a lab with its users, not yet cleared."""
    return EndToEndLab(openstack, Operator(openstack), Actor(openstack, "lessee"), Actor(openstack, "other"))
