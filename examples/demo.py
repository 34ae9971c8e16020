"""The life of nine leases on the embedded service, shown as a table; the program behind ``make demo``.

It starts the service in a folder of its own, registers hosts, asks for the leases in
``examples/leases/*.json`` through the client library, watches them, kills the service in the middle of
a start, starts it again, and checks that every lease went the way that its file says.

Exit code 0 says that all did.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session

from blazar.manager.clocks import FastClock
from blazarclient.client import Client
from blazarclient.exception import BlazarClientException

SPEED = 30
LEASES = Path(__file__).parent / "leases"
GIVE_UP_AFTER_SECONDS = 50
LOOK_EVERY_SECONDS = 0.05
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
seconds_to_prepare = 20
"""


@dataclass(slots=True)
class Story:
    """One lease: its file, and what was seen of it."""

    script: dict[str, Any]
    lease_id: str | None = None
    statuses: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_done: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Return the lease's name."""
        return str(self.script["lease"]["name"])

    def see(self, status: str) -> None:
        """Note a status if it is new."""
        if not self.statuses or self.statuses[-1] != status:
            self.statuses.append(status)


@dataclass(slots=True)
class Service:
    """The embedded service as a process of its own."""

    folder: Path
    clock: FastClock
    process: subprocess.Popen[str] | None = None
    client: Any = None

    def start(self) -> None:
        """Start it, on any free port of the loopback interface, and connect to it."""
        configuration = self.folder / "blazar.conf"
        configuration.write_text(
            CONFIGURATION.format(folder=self.folder, speed=SPEED, epoch=self.clock.epoch.isoformat())
        )
        with (self.folder / "service.log").open("a") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "blazar.cmd.standalone",
                    "--config-file",
                    str(configuration),
                    "--listen-port",
                    "0",
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if " at " not in line:
            raise SystemExit(f"the service did not start:\n{(self.folder / 'service.log').read_text()}")
        url = line.split(" at ")[1].strip()
        self.client = Client(session=Session(auth=NoAuth(endpoint=url)))
        say(f"the service runs at {url}, process {self.process.pid}")

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End it in an orderly way, if it still runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=20)

    def hosts_in(self, reservation_id: str) -> int:
        """Return how many hosts are in a reservation's aggregate, by the simulated cloud's own state."""
        state = json.loads((self.folder / "cloud.json").read_text())
        return sum(
            len(each["hosts"]) for each in _values(state["aggregates"]) if each["name"] == reservation_id
        )

    def network_id(self) -> str:
        """Return the id of the simulated cloud's network."""
        state = json.loads((self.folder / "cloud.json").read_text())
        (network,) = _values(state["networks"])
        return str(network["id"])

    def addresses_of(self, reservation_id: str) -> list[str]:
        """Return the addresses that a reservation has, by the simulated cloud's own state."""
        state = json.loads((self.folder / "cloud.json").read_text())
        found = _values(state["floating_ips"])
        tag = f"reservation:{reservation_id}"
        return sorted(each["address"] for each in found if tag in each["tags"])


def main() -> int:
    """Run the demonstration; return its exit code."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="blazar-demo-") as folder, running(Path(folder)) as service:
        say(f"its clock runs {SPEED} times as fast as yours: a minute of a lease takes {60 // SPEED} seconds")
        register_hosts(service)
        register_floatingips(service)
        stories = [Story(json.loads(path.read_text())) for path in sorted(LEASES.glob("*.json"))]
        peaceful = [story for story in stories if "kill_when" not in story.script]
        for act_of_it in (peaceful, [story for story in stories if story not in peaceful]):
            for story in act_of_it:
                ask_for(service, story)
            watch_until_over(service, act_of_it, began + GIVE_UP_AFTER_SECONDS)
        show(service, stories)
        failed = [story.name for story in stories if not went_well(story)]
    say(f"took {time.monotonic() - began:.0f} seconds; the service is stopped, its folder is removed")
    if failed:
        say(f"NOT as described: {', '.join(failed)}")
        return 1
    say("every lease went as described")
    return 0


@contextmanager
def running(folder: Path) -> Iterator[Service]:
    """Yield the running service; it is stopped whatever happens."""
    service = Service(folder, FastClock(epoch=datetime.now(UTC), speed=SPEED))  # noqa: TID251
    try:
        service.start()
        yield service
    finally:
        service.stop()


def register_hosts(service: Service) -> None:
    """Put seven of the cloud's eight hosts into the service's hands."""
    for number in range(1, 8):
        service.client.host.create(f"host-{number}", rack="r1" if number <= 3 else "r2")
    hosts = service.client.host.list()
    say(f"registered {len(hosts)} hosts: " + ", ".join(each["hypervisor_hostname"] for each in hosts))


def register_floatingips(service: Service) -> None:
    """Put two addresses of the cloud's external network into the service's hands."""
    for number in (201, 202):
        service.client.floatingip.create(service.network_id(), f"203.0.113.{number}")
    addresses = [each["floating_ip_address"] for each in service.client.floatingip.list()]
    say(f"registered {len(addresses)} floating IPs: " + ", ".join(addresses))


def ask_for(service: Service, story: Story) -> None:
    """Ask for a lease, or note why it cannot be had."""
    script, now = story.script, service.clock.now()
    start = "now"
    if script["starts_in_minutes"]:
        start = minute(now + timedelta(minutes=script["starts_in_minutes"]))
    end = minute(now + timedelta(minutes=script["ends_in_minutes"]))
    reservations = script["lease"]["reservations"]
    try:
        lease = service.client.lease.create(
            story.name, start, end, [reservation_of(service, each) for each in reservations], events=[]
        )
    except BlazarClientException as error:
        story.see(f"refused ({error.kwargs['code']})")
        story.notes.append(str(error))
        say(f"{story.name}: asked for {start} to {end} UTC; {script['about']}: refused")
        return
    story.lease_id = lease["id"]
    story.see(lease["status"])
    say(f"{story.name}: asked for {start} to {end} UTC; {script['about']}")


def reservation_of(service: Service, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a reservation of a file, with the id of the network in the place of its name."""
    return {**asked, "network_id": service.network_id()} if "network_id" in asked else asked


def watch_until_over(service: Service, stories: list[Story], deadline: float) -> None:
    """Watch these leases until nothing more is to be seen of them, or it takes too long."""
    while not all(is_over(story) for story in stories) and time.monotonic() < deadline:
        watch(service, stories)
        time.sleep(LOOK_EVERY_SECONDS)  # noqa: TID251 - real time: this is a client


def watch(service: Service, stories: list[Story]) -> None:
    """Look at all leases once, and do what their files say."""
    leases = {each["id"]: each for each in service.client.lease.list()}
    for story in stories:
        if story.lease_id is None:
            continue
        lease = leases.get(story.lease_id)
        if lease is None:
            story.see("gone")
            continue
        story.see(lease["status"])
        act(service, story, lease)


def act(service: Service, story: Story, lease: dict[str, Any]) -> None:
    """Extend, delete or kill, once, when the time has come."""
    script, status = story.script, lease["status"]
    if "extend_by_minutes" in script and status == "ACTIVE" and "extended" not in story.is_done:
        story.is_done.add("extended")
        longer = service.client.lease.update(lease["id"], prolong_for=f"{script['extend_by_minutes']}m")
        story.notes.append(f"end moved from {lease['end_date'][11:16]} to {longer['end_date'][11:16]}")
    flavor_id = lease["reservations"][0].get("flavor_id")
    if flavor_id and status == "ACTIVE" and "shown" not in story.is_done:
        story.is_done.add("shown")
        story.notes.append(
            f"slots on {service.hosts_in(flavor_id)} hosts, for servers of the private flavor {flavor_id}"
        )
    if "network_id" in lease["reservations"][0] and status == "ACTIVE" and "shown" not in story.is_done:
        story.is_done.add("shown")
        addresses = service.addresses_of(lease["reservations"][0]["id"])
        story.notes.append(f"in the lessee's project meanwhile: {', '.join(addresses)}")
    if script.get("delete_when") == status and "deleted" not in story.is_done:
        story.is_done.add("deleted")
        service.client.lease.delete(lease["id"])
        story.notes.append("DELETE answered when the host was back in the freepool")
    if script.get("kill_when") == status and "killed" not in story.is_done:
        reservation_id = lease["reservations"][0]["id"]
        if not 0 < service.hosts_in(reservation_id) < 4:
            return
        story.is_done.add("killed")
        service.kill()
        moved = service.hosts_in(reservation_id)
        say(f"kill -9: {moved} of 4 hosts of {story.name} had been handed over")
        story.notes.append(f"killed with {moved} of 4 hosts handed over; completed after the restart")
        service.start()


def is_over(story: Story) -> bool:
    """Return whether nothing more is to be seen of a lease."""
    if story.lease_id is None:
        return True
    if "kill_when" in story.script:
        return "killed" in story.is_done and story.statuses[-1] == "ACTIVE"
    if story.script["starts_in_minutes"] >= 60:
        return story.statuses[-1] == "PENDING"
    return story.statuses[-1] in ("TERMINATED", "gone", "ERROR")


def went_well(story: Story) -> bool:
    """Return whether a lease went the way its file says."""
    stable = [each for each in story.statuses if each in ("PENDING", "ACTIVE", "TERMINATED", "ERROR", "gone")]
    script = story.script
    if "refused_with" in script:
        return story.statuses == [f"refused ({script['refused_with']})"]
    if "delete_when" in script:
        return stable == ["PENDING", "ACTIVE", "gone"]
    if "kill_when" in script:
        return "killed" in story.is_done and stable == ["PENDING", "ACTIVE"]
    if script["starts_in_minutes"] >= 60:
        return stable == ["PENDING"]
    return stable == ["PENDING", "ACTIVE", "TERMINATED"] and (
        "extend_by_minutes" not in script or "extended" in story.is_done
    )


def show(service: Service, stories: list[Story]) -> None:
    """Print the table."""
    rows = [("lease", "what it shows", "seen", "")]
    rows += [
        (
            story.name,
            story.script["about"],
            " > ".join(story.statuses),
            "as described" if went_well(story) else "NOT AS DESCRIBED",
        )
        for story in stories
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    print()
    for number, row in enumerate(rows):
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))
    print()
    for story in stories:
        for note in story.notes:
            print(f"  {story.name}: {note}")
    print()
    held = [each for each in service.client.allocation.list("os-hosts") if each["reservations"]]
    say(f"still held, now or later: {len(held)} hosts, by the leases that are ACTIVE or PENDING above")


def minute(instant: datetime) -> str:
    """Return an instant as the API takes it."""
    return instant.strftime("%Y-%m-%d %H:%M")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def _values(found: dict[str, Any] | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(found.values()) if isinstance(found, dict) else found


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
