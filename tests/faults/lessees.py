"""Lessees that create, extend, shorten, move, use and delete leases of all kinds, at once or after pauses.

Some leases are first held by an offer, which must become the lease whenever it is committed in time.
"""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import requests
from faults.client import FIRST_API, NEWEST_API, PROJECT, Answer, Client, Said
from faults.gateway import Gateway

from blazar.ports.compute import Flavor
from rig.cloud import CloudControl

MINUTE = timedelta(minutes=1)
FLAVOR = Flavor(id="small", name="small", vcpus=2, memory_mb=1024, disk_gb=10, is_public=True)
"""The flavor of instances in leases; it must exist in the cloud."""
HOSTS, INSTANCES, FLAVORS = "physical:host", "virtual:instance", "flavor:instance"
_SHARE_OF_OFFERS = 0.3
_OFFER_SECONDS = 5


@dataclass(slots=True, kw_only=True)
class Promise:
    """The answers that a lessee received about a lease."""

    lease_id: str
    name: str
    """It is unique: another lease with it means that a request was executed twice."""
    reservation_id: str
    resource_type: str
    start: datetime
    end: datetime | None
    """None after a request to change the lease was not answered."""
    is_deleted: bool | None = False
    """None if the request to delete the lease was not answered."""


@dataclass(slots=True)
class Ledger:
    """The answers that all lessees received, and their counts."""

    promises: list[Promise] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    created: int = 0
    seconds: list[float] = field(default_factory=list)
    """The duration of each answered create request."""
    problems: list[str] = field(default_factory=list)
    """Answers that no lessee may receive."""
    unanswered: list[str] = field(default_factory=list)
    """The requests of unknown outcome, each with its status, its time and its error."""


class Lessees:
    """Threads of lessees, from the creation of this object until :meth:`end`."""

    def __init__(
        self,
        gateway: Gateway,
        cloud_url: str,
        network_id: str,
        *,
        seed: int,
        version: str = NEWEST_API,
        count: int = 6,
        pause_seconds: float = 0,
    ) -> None:
        """Start the lessees.

        Args:
            gateway: The APIs.
            cloud_url: The URL of the cloud, on which servers are booted.
            network_id: The ID of the network of the floating IPs.
            seed: The seed of all choices; each lessee has its own sequence.
            version: The version of the API.
            count: The number of lessees.
            pause_seconds: The time that each of them waits after a new lease and a change.
        """
        self.ledger = Ledger()
        self._gateway, self._cloud_url, self._network_id = gateway, cloud_url, network_id
        self._version, self._pause_seconds = version, pause_seconds
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._threads = [
            threading.Thread(target=self._live, args=(random.Random(f"{seed}-{number}"),), name="lessee")
            for number in range(count)
        ]
        for each in self._threads:
            each.start()

    def end(self) -> Ledger:
        """Let the lessees finish their current requests, and return the ledger."""
        self._is_over.set()
        for each in self._threads:
            each.join()
        return self.ledger

    def _live(self, chance: random.Random) -> None:
        client = Client(self._gateway, "user", version=self._version)
        control = CloudControl(self._cloud_url)
        mine: list[Promise] = []
        try:
            while not self._is_over.is_set():
                self._create(client, chance, mine)
                if mine and chance.random() < 0.7:
                    self._change(client, control, chance, mine)
                self._is_over.wait(self._pause_seconds)
        except AssertionError as error:
            with self._lock:
                self.ledger.problems.append(str(error))
        finally:
            client.close()
            control.close()

    def _create(self, client: Client, chance: random.Random, mine: list[Promise]) -> None:
        start, end = _window(chance)
        reservation = _reservation(chance, self._network_id)
        body = {
            "name": f"lease-{uuid.uuid4().hex}",
            "start_date": "now" if start is None else _text(start),
            "end_date": _text(end),
            "reservations": [reservation],
        }
        began, requested_start = time.monotonic(), start or _minute()
        if self._version != FIRST_API and chance.random() < _SHARE_OF_OFFERS:
            answer = self._create_from_offer(client, chance, body)
        else:
            answer = client.ask("POST", "/leases", body)
        if answer is None:
            return
        self._count("create", answer)
        if answer.said is not Said.UNKNOWN:
            with self._lock:
                self.ledger.seconds.append(time.monotonic() - began)
        if answer.said is not Said.DONE:
            return
        lease = answer.body["lease"]
        promised_start, promised_end = _promised_dates(lease, requested_start, end)
        promise = Promise(
            lease_id=lease["id"],
            name=lease["name"],
            reservation_id=lease["reservations"][0]["id"],
            resource_type=reservation["resource_type"],
            start=promised_start,
            end=promised_end,
        )
        mine.append(promise)
        with self._lock:
            self.ledger.created += 1
            self.ledger.promises.append(promise)

    def _create_from_offer(
        self, client: Client, chance: random.Random, body: Mapping[str, Any]
    ) -> Answer | None:
        """Return the answer to the commit of an offer; None if it is refused, deleted or left alone."""
        began = time.monotonic()
        answer = client.ask("POST", "/offers", {**body, "ttl_seconds": _OFFER_SECONDS})
        self._count("offer", answer)
        if answer.said is not Said.DONE:
            return None
        offer_id = answer.body["offer"]["id"]
        match chance.choices(("commit", "delete", "leave"), (70, 10, 20))[0]:
            case "commit":
                answer = client.ask("POST", "/leases", {"name": body["name"], "offer_id": offer_id})
                is_open = time.monotonic() - began < _OFFER_SECONDS
                # The project's requests are limited neither by quotas nor by filters, and no host fails.
                assert answer.said is not Said.REFUSED or not is_open, f"lost offer {offer_id}: {answer}"
                return answer
            case "delete":
                self._count("offer deleted", client.ask("DELETE", f"/offers/{offer_id}"))
        return None

    def _change(
        self, client: Client, control: CloudControl, chance: random.Random, mine: list[Promise]
    ) -> None:
        promise = chance.choice(mine)
        match chance.choices(("extend", "shorten", "move", "use", "delete"), (20, 20, 10, 20, 30))[0]:
            case "extend":
                end = (promise.end or _minute()) + chance.randint(1, 3) * MINUTE
                self._update(client, promise, "extend", end=end)
            case "shorten":
                end = max(_minute(), promise.start) + chance.randint(0, 1) * MINUTE
                self._update(client, promise, "shorten", end=end)
            case "move":
                start = _minute() + chance.randint(1, 600) * MINUTE
                self._update(client, promise, "move", start=start, end=start + 5 * MINUTE)
            case "use":
                self._use(client, control, chance, mine)
            case "delete":
                mine.remove(promise)
                self._delete(client, promise)

    def _update(
        self, client: Client, promise: Promise, what: str, *, end: datetime, start: datetime | None = None
    ) -> None:
        dates = {"end_date": _text(end), **({"start_date": _text(start)} if start else {})}
        answer = client.ask("PUT", f"/leases/{promise.lease_id}", dates)
        self._count(what, answer)
        if answer.said is Said.UNKNOWN:
            # It stays unknown after later answers: a paused manager may apply the change when it resumes.
            promise.end = None
        elif answer.said is Said.DONE and promise.end is not None:
            promise.start, promise.end = _promised_dates(answer.body["lease"], start or promise.start, end)

    def _use(self, client: Client, control: CloudControl, chance: random.Random, mine: list[Promise]) -> None:
        """Boot a server in a running lease; it is deleted with the lease."""
        begun = [each for each in mine if each.start <= _minute() and each.resource_type in _HINTS]
        if not begun:
            return
        promise = chance.choice(begun)
        answer = client.ask("GET", f"/leases/{promise.lease_id}")
        if answer.said is not Said.DONE or answer.body["lease"]["status"] != "ACTIVE":
            return
        try:
            hint = {_HINTS[promise.resource_type]: promise.reservation_id}
            control.boot_server("server", PROJECT, **hint)
        except requests.HTTPError:
            # The lease has ended in the meantime, or is full.
            return
        with self._lock:
            self.ledger.answers["server booted"] += 1

    def _delete(self, client: Client, promise: Promise) -> None:
        answer = client.ask("DELETE", f"/leases/{promise.lease_id}")
        self._count("delete", answer)
        is_gone = answer.said is Said.DONE or answer.status == 404
        promise.is_deleted = True if is_gone else (None if answer.said is Said.UNKNOWN else False)

    def _count(self, what: str, answer: Answer) -> None:
        with self._lock:
            self.ledger.answers[f"{what} {answer.said.value}"] += 1
            if answer.said is Said.UNKNOWN:
                status = answer.status or "no response"
                self.ledger.unanswered.append(f"{what}: {status} at {time.strftime('%X')}, {answer.detail}")


def _window(chance: random.Random) -> tuple[datetime | None, datetime]:
    """Return a start, None for "now", and an end; most are within minutes, some are days ahead."""
    kind, minutes = chance.random(), chance.randint(1, 3)
    if kind < 0.45:
        return None, _minute() + (minutes + 1) * MINUTE
    start = _minute() + (MINUTE if kind < 0.6 else chance.randint(5, 3000) * MINUTE)
    return start, start + minutes * MINUTE


_HINTS = {HOSTS: "reservation_id", INSTANCES: "flavor_id", FLAVORS: "flavor_id"}
"""The hint that tells Nova a server's reservation; a reservation of instances has its own flavor."""


def _reservation(chance: random.Random, network_id: str) -> Mapping[str, Any]:
    kind = chance.choices((HOSTS, INSTANCES, FLAVORS, "virtual:floatingip"), (35, 25, 25, 15))[0]
    if kind == HOSTS:
        most = chance.randint(1, 3)
        return {
            "resource_type": kind,
            "min": 1,
            "max": most,
            "hypervisor_properties": "",
            "resource_properties": "",
        }
    if kind in (INSTANCES, FLAVORS):
        sizes = {"vcpus": chance.randint(1, 8), "memory_mb": 1024, "disk_gb": 10}
        return {
            "resource_type": kind,
            **(sizes if kind == INSTANCES else {"flavor_id": FLAVOR.id}),
            "amount": chance.randint(1, 3),
            "affinity": chance.choice((None, None, None, False)),
            "resource_properties": "",
        }
    return {
        "resource_type": kind,
        "network_id": network_id,
        "amount": chance.randint(1, 2),
        "required_floatingips": [],
    }


def _promised_dates(lease: Mapping[str, Any], start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """Return the start and end dates in an answer.

    Raises:
        AssertionError: A date is neither the requested one nor a minute later. The service treats a date as
            "now" if its minute has passed before the request arrives.
    """
    found = [datetime.fromisoformat(lease[key]).replace(tzinfo=UTC) for key in ("start_date", "end_date")]
    for requested, promised in zip((start, end), found, strict=True):
        assert promised - requested in (timedelta(0), MINUTE), f"{requested} became {promised}"
    return found[0], found[1]


def _minute() -> datetime:
    """Return the start of the current minute."""
    return datetime.now(UTC).replace(second=0, microsecond=0)  # noqa: TID251 - that of the processes, too


def _text(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M}"
