"""The embedded service as a process that can be killed, and the state of its simulated cloud."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from blazar.manager.clocks import FastClock

SPEED = 30
"""Speed of the service's clock relative to real time."""
CONFIGURATION = """
[DEFAULT]
use_stderr = true
[standalone]
state_dir = {folder}
clock_speed = {speed}
clock_epoch = {epoch}
[simulated_cloud]
hosts = 8
call_seconds = 0.05
[manager]
plugins = physical.host.plugin, virtual.instance.plugin, flavor.instance.plugin, virtual.floatingip.plugin,
    virtual.volume.plugin, physical.storage.plugin, network.plugin
seconds_to_prepare = 20
"""


@dataclass(slots=True)
class Service:
    """The embedded service, with its files in a temporary folder.

    Attributes:
        url: The URL of the API, with ``/v1``.
    """

    folder: Path
    clock: FastClock
    url: str = ""
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the service on any free port of the loopback interface."""
        configuration = self.folder / "blazar.conf"
        configuration.write_text(
            CONFIGURATION.format(folder=self.folder, speed=SPEED, epoch=self.clock.epoch.isoformat())
        )
        program = [sys.executable, "-W", "ignore", "-m", "blazar.cmd.standalone"]
        with (self.folder / "service.log").open("a") as log:
            self.process = subprocess.Popen(
                [*program, "--config-file", str(configuration), "--listen-port", "0"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if " at " not in line:
            raise SystemExit(f"the service did not start:\n{(self.folder / 'service.log').read_text()}")
        self.url = line.split(" at ")[1].strip()

    def kill(self) -> None:
        """Kill the service, as in a power failure."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Stop the service in an orderly way, if it is running."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=20)

    def hosts_in(self, aggregate: str) -> int:
        """Return the number of hosts in the aggregate with this name."""
        return sum(len(each["hosts"]) for each in self._cloud("aggregates") if each["name"] == aggregate)

    def reserved_hosts(self) -> int:
        """Return the number of hosts in aggregates of reservations."""
        return sum(len(each["hosts"]) for each in self._cloud("aggregates") if each["name"] != "freepool")

    def network_id(self) -> str:
        """Return the id of the cloud's external network."""
        (network,) = [each for each in self._cloud("networks") if each["is_external"]]
        return str(network["id"])

    def addresses_of(self, reservation_id: str) -> list[str]:
        """Return the floating IPs of a reservation."""
        tag = f"reservation:{reservation_id}"
        return sorted(each["address"] for each in self._cloud("floating_ips") if tag in each["tags"])

    def networks_of(self, reservation_id: str) -> list[str]:
        """Return the networks of a reservation, with their VLANs."""
        tag = f"reservation:{reservation_id}"
        found = [each for each in self._cloud("segment_networks") if tag in each["tags"]]
        return sorted(f"{each['name']} on VLAN {each['segment']['segment_id']}" for each in found)

    def room_of(self, reservation_id: str) -> str:
        """Return the volume type of a reservation of storage, with its room."""
        names = {each["name"] for each in self._cloud("volume_types")}
        quotas = self._content()["type_quotas"]
        return ", ".join(
            f"{name} with room for {limit} GiB"
            for key, limit in sorted(quotas.items())
            if (name := key.partition(" ")[2]) in names and reservation_id in name
        )

    def _cloud(self, kind: str) -> list[dict[str, Any]]:
        found = self._content()[kind]
        return list(found.values()) if isinstance(found, dict) else found

    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.folder / "cloud.json").read_text())
        return content


@contextmanager
def running(folder: Path) -> Iterator[Service]:
    """Yield the running service; it is stopped in any case."""
    service = Service(folder, FastClock(epoch=datetime.now(UTC), speed=SPEED))  # noqa: TID251
    try:
        service.start()
        yield service
    finally:
        service.stop()
