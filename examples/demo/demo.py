"""Twelve leases on the embedded service, controlled with commands; the program behind ``make demo``.

It starts the service in a temporary folder, registers hosts, floating IPs and storage pools, creates the
leases of ``stories.py``, watches them, kills the service in the middle of a start, starts it again, and
checks that every lease behaved as its script describes. It uses the ``blazar`` command and prints each
command.

The exit code is 0 if all leases did.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from embedded import SPEED, Service, running
from stories import NETWORK, SCRIPTS, Story
from terminal import ask, connect, say, type_in

GIVE_UP_AFTER_SECONDS = 240
LOOK_EVERY_SECONDS = 0.05
LOOK_FOR_HOSTS_EVERY_SECONDS = 0.01
HOSTS_TO_STRIKE = 4
TOO_MANY = "too-many-hosts"
DAY = 24 * 60
"""In minutes."""


def main() -> int:
    """Run the demonstration; return its exit code."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="blazar-demo-") as folder, running(Path(folder)) as service:
        os.environ["XDG_CACHE_HOME"] = folder  # for the alternatives to a refused lease
        say(f"its clock runs {SPEED} times as fast as yours: a minute of a lease takes {60 // SPEED} seconds")
        introduce(service)
        register(service)
        stories = [Story(each) for each in SCRIPTS]
        deadline = began + GIVE_UP_AFTER_SECONDS
        for struck in (False, True):
            act = [story for story in stories if story.script.is_struck is struck]
            for story in act:
                ask_for(service, story)
                if struck:
                    strike(service, story, deadline)
            watch_until_over(service, act, deadline)
        has_taken = take_alternative(service)
        show(stories)
    say(f"took {time.monotonic() - began:.0f} seconds; the service is stopped, its folder is removed")
    failed = [story.name for story in stories if not story.went_well]
    failed += [] if has_taken else [TOO_MANY]
    say(f"NOT as described: {', '.join(failed)}" if failed else "every lease went as described")
    return 1 if failed else 0


def introduce(service: Service) -> None:
    """Print the service's address, and configure the commands to use it."""
    assert service.process is not None
    say(f"the service runs at {service.url}, process {service.process.pid}")
    connect(service.url)


def register(service: Service) -> None:
    """Register seven of eight hosts, two addresses, four network segments, and two storage pools."""
    for number in range(1, 8):
        rack = "r1" if number <= 3 else "r2"
        type_in("host-create", f"host-{number}", "--extra", f"rack={rack}", "-f", "value", "-c", "id")
    for number in (201, 202):
        address = f"203.0.113.{number}"
        type_in("floatingip-create", service.network_id(), address, "-f", "value", "-c", "id")
    words = ["--network-type", "vlan", "--physical-network", "physnet1", "--segment-id", "201-204"]
    type_in("network-create", *words, "-f", "value")
    for name in ("block@fast#ssd", "block@large#disk"):
        type_in("storage-pool-create", name, "-f", "value", "-c", "id")


def ask_for(service: Service, story: Story) -> None:
    """Create a lease, or record the reason of its refusal."""
    script, now = story.script, service.clock.now()
    words = ["lease-create", story.name, "-f", "json", "--noindent", "-c", "id", "-c", "status"]
    if script.starts_in_minutes is not None:
        words += ["--start-date", minute(now, script.starts_in_minutes)]
    words += ["--end-date", minute(now, script.ends_in_minutes)]
    for each in script.reservations:
        words += ["--reservation", each.replace(NETWORK, service.network_id())]
    say(f"\n{story.name}: {script.about}")
    answer = type_in(*words)
    if answer.code:
        story.see("refused" if "Not enough" in answer.errors else "failed")
        story.notes.append(answer.errors.strip())
        return
    story.see(json.loads(answer.output)["status"])


def watch_until_over(service: Service, stories: list[Story], deadline: float) -> None:
    """Watch these leases until all are settled, or until a timeout."""
    while not all(story.is_over for story in stories) and time.monotonic() < deadline:
        watch(service, stories)
        time.sleep(LOOK_EVERY_SECONDS)  # noqa: TID251 - real time: this is a client


def watch(service: Service, stories: list[Story]) -> None:
    """Check all leases once, and perform the actions of their scripts."""
    leases = {
        each["name"]: each
        for each in ask(
            "lease-list", *(f"--column={key}" for key in ("name", "status", "end_date", "reservations"))
        )
    }
    for story in stories:
        if story.name in leases:
            story.see(leases[story.name]["status"])
            act_upon(service, story, leases[story.name])
        elif "refused" not in story.statuses:
            story.see("gone")


def act_upon(service: Service, story: Story, lease: dict[str, Any]) -> None:
    """Record details of an active lease, and extend or delete it, once each."""
    (reservation,) = lease["reservations"]
    if lease["status"] != "ACTIVE":
        return
    if story.is_first("look"):
        look_at(service, story, reservation)
    if story.script.extend_by and story.is_first("extend"):
        type_in("lease-update", story.name, "--prolong-for", story.script.extend_by)
        longer = ask("lease-show", story.name)
        story.notes.append(f"end moved from {lease['end_date'][11:16]} to {longer['end_date'][11:16]}")
    if story.script.is_deleted and story.is_first("delete"):
        type_in("lease-delete", story.name, "--wait")


def look_at(service: Service, story: Story, reservation: dict[str, Any]) -> None:
    """Record the resources of an active reservation, according to the cloud's state."""
    if "network_id" in reservation:
        addresses = ", ".join(service.addresses_of(reservation["id"]))
        story.notes.append(f"in the lessee's project meanwhile: {addresses}")
    elif "network_name" in reservation:
        names = ", ".join(service.networks_of(reservation["id"]))
        story.notes.append(f"in the lessee's project meanwhile: {names}")
    elif "gibibytes" in reservation:
        story.notes.append(f"in Cinder meanwhile: volume type {service.room_of(reservation['id'])}")
    elif reservation.get("flavor_id"):
        number, flavor = service.hosts_in(reservation["flavor_id"]), reservation["flavor_id"]
        story.notes.append(f"on {number} hosts, for servers of the private flavor {flavor}")


def strike(service: Service, story: Story, deadline: float) -> None:
    """Kill the service as soon as a host has been handed over, and start it again."""
    while not service.reserved_hosts():
        if time.monotonic() > deadline:
            return
        time.sleep(LOOK_FOR_HOSTS_EVERY_SECONDS)  # noqa: TID251 - real time: this is a client
    service.kill()
    story.done.add("strike")
    moved = service.reserved_hosts()
    say(f"\nkill -9: {moved} of {HOSTS_TO_STRIKE} hosts of {story.name} had been handed over")
    story.notes.append(f"killed with {moved} of {HOSTS_TO_STRIKE} hosts handed over, and started again")
    service.start()
    introduce(service)


def take_alternative(service: Service) -> bool:
    """Ask for more hosts than there are, and take what is possible instead; return whether it was granted."""
    now = service.clock.now()
    words = ["lease-create", TOO_MANY, "--dry-run"]
    words += ["--start-date", minute(now, 2 * DAY), "--end-date", minute(now, 2 * DAY + 60)]
    words += ["--reservation", "resource_type=physical:host, min=8, max=8"]
    say(f"\n{TOO_MANY}: would be refused; one of the alternatives is taken")
    refused = type_in(*words)
    taken = type_in("lease-create", "--take", "1", "-f", "json", "--noindent", "-c", "name", "-c", "status")
    return "Possible instead" in refused.errors and not taken.code


def show(stories: list[Story]) -> None:
    """Print the observed statuses, and the hosts that are still held."""
    type_in("lease-list", "-c", "name", "-c", "start_date", "-c", "end_date", "-c", "status")
    rows = [("lease", "what it shows", "seen", "")]
    for story in stories:
        verdict = "as described" if story.went_well else "NOT AS DESCRIBED"
        rows.append((story.name, story.script.about, " > ".join(story.statuses), verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    rows.insert(1, ("-" * widths[0], "-" * widths[1], "-" * widths[2], "-" * widths[3]))
    say("")
    for row in rows:
        say("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    say("")
    for story in stories:
        for note in story.notes:
            say(f"  {story.name}: {note}")
    held = [each for each in ask("allocation-list", "host") if each["reservations"]]
    say(f"\nstill held, now or later: {len(held)} hosts, by the leases that are ACTIVE or PENDING above")


def minute(now: datetime, minutes: int) -> str:
    """Return the instant *minutes* after *now* in the format of the API."""
    return f"{now + timedelta(minutes=minutes):%Y-%m-%d %H:%M}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
