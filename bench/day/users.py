"""Users who search, take offers, reserve, change, use and delete leases in the course of the day."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import requests
from faults.client import PROJECT, Answer, Said
from faults.lessees import FLAVORS, HOSTS, INSTANCES, MINUTE, Promise

from bench.day.figures import TimedClient
from bench.day.run import Run
from bench.day.wishes import end_of, length_of, period_of, reservation_of, resource_type_of, shown
from rig.cloud import CloudControl

_HINTS: Final = {HOSTS: "reservation_id", INSTANCES: "flavor_id", FLAVORS: "flavor_id"}
_TTL_SECONDS: Final = 900
_LAST_SHARE: Final = 0.97
"""The share of the day after which users ask for no lease."""
_BROWSED: Final = (
    "/catalogue",
    "/leases?limit=100&sort=start_date:desc",
    "/availability?resource_type=physical:host&resolution=15&group_by=rack",
    "/timeline?resource_type=physical:host&resolution=60&group_by=rack",
    "/offers",
)


class User:
    """One user: a thread from :meth:`start` on, until the day ends."""

    def __init__(self, run: Run, name: str, *, leases: int) -> None:
        """Plan the day.

        Args:
            run: The run.
            name: The id of the user.
            leases: The number of leases for which the user asks.
        """
        self._run, self._name = run, name
        self._day, self._figures, self._is_over = run.day, run.figures, run.is_over
        self._chance = run.chance(name)
        self._turns = sorted(self._day.at(self._chance.random() * _LAST_SHARE) for _ in range(leases))
        self._mine: list[Promise] = []
        self._number = 0
        self._thread = threading.Thread(target=self._live, name=name)
        self.start, self.join = self._thread.start, self._thread.join

    def _live(self) -> None:
        cloud_url = self._run.site.installation.cloud_url
        with closing(self._run.client(self._name)) as client, closing(CloudControl(cloud_url)) as control:
            for turn in self._turns:
                if not self._day.wait_until(turn, self._is_over):
                    return
                try:
                    self._act(client, control)
                except (AssertionError, KeyError) as error:
                    self._figures.note_problem(f"{self._name}: {error!r}")

    def _act(self, client: TimedClient, control: CloudControl) -> None:
        if self._chance.random() < 0.4:
            client.ask("browse", "GET", self._chance.choice(_BROWSED))
        self._obtain(client)
        if self._mine and self._chance.random() < 0.7:
            self._change(client, control)

    def _obtain(self, client: TimedClient) -> None:
        """Search for a lease or choose its dates, then reserve at once or hold an offer first."""
        self._number += 1
        kind = resource_type_of(self._chance)
        reservation = reservation_of(kind, self._chance, self._run.site.network_id)
        length = length_of(kind, self._chance)
        found = self._search(client, reservation, length) if self._chance.random() < 0.4 else None
        start, end = period_of(self._day, length, self._chance)
        dates = {"start_date": "now" if start is None else shown(start), "end_date": shown(end)}
        body = {
            "name": f"{self._name}-lease-{self._number}",
            **(found or {**dates, "reservations": [reservation]}),
        }
        asked_at = self._day.minute()
        is_held = self._chance.random() < 0.35
        answer = self._take_offer(client, body) if is_held else client.ask("create", "POST", "/leases", body)
        if answer is not None and answer.said is Said.DONE:
            self._keep(answer.body["lease"], body, asked_at)

    def _search(
        self, client: TimedClient, reservation: Mapping[str, Any], length: timedelta
    ) -> Mapping[str, Any] | None:
        """Return the dates and reservations of a free time of the day; None if none was found."""
        latest = self._day.end - MINUTE
        if self._day.now() + length + 10 * MINUTE > latest:
            return None
        body = {
            "duration_minutes": length // MINUTE,
            "earliest_start": shown(
                self._day.now() + self._chance.random() * (latest - self._day.now() - length)
            ),
            "latest_end": shown(latest),
            "reservations": [reservation],
            "limit": 3,
        }
        answer = client.ask("search", "POST", "/availability/search", body)
        slots = answer.body["slots"] if answer.said is Said.DONE else []
        return self._chance.choice(slots)["request"] if slots else None

    def _take_offer(self, client: TimedClient, body: Mapping[str, Any]) -> Answer | None:
        """Return the answer to the commit of an offer; None if it is refused, deleted or left alone."""
        answer = client.ask("offer", "POST", "/offers", {**body, "ttl_seconds": _TTL_SECONDS})
        if answer.said is not Said.DONE:
            return None
        offer_id = answer.body["offer"]["id"]
        match self._chance.choices(("take", "delete", "leave"), (80, 8, 12))[0]:
            case "take":
                # Users think for some minutes.
                self._day.wait_until(self._day.now() + self._chance.randint(1, 5) * MINUTE, self._is_over)
                taken = client.ask(
                    "take offer", "POST", "/leases", {"name": body["name"], "offer_id": offer_id}
                )
                if taken.said is Said.DONE:
                    self._figures.note_offer_taken()
                return taken
            case "delete":
                client.ask("delete offer", "DELETE", f"/offers/{offer_id}")
        return None

    def _keep(self, lease: Mapping[str, Any], body: Mapping[str, Any], asked_at: datetime) -> None:
        wanted = (asked_at if body["start_date"] == "now" else _instant(body["start_date"]), body["end_date"])
        start, end = self._dates_of(lease, wanted[0], _instant(wanted[1]))
        promise = Promise(
            lease_id=lease["id"],
            name=lease["name"],
            reservation_id=lease["reservations"][0]["id"],
            resource_type=lease["reservations"][0]["resource_type"],
            start=start,
            end=end,
        )
        self._mine.append(promise)
        self._figures.note_lease(promise, lease["name"])

    def _dates_of(
        self, lease: Mapping[str, Any], start: datetime, end: datetime
    ) -> tuple[datetime, datetime]:
        """Return the dates in an answer.

        Raises:
            AssertionError: A date is neither the requested one nor, if its minute has passed, a later "now".
        """
        found = _instant(lease["start_date"]), _instant(lease["end_date"])
        for wanted, promised in zip((start, end), found, strict=True):
            assert promised == wanted or wanted < promised <= self._day.now(), f"{wanted} became {promised}"
        return found

    def _change(self, client: TimedClient, control: CloudControl) -> None:
        promise = self._chance.choice(self._mine)
        match self._chance.choices(("extend", "shorten", "move", "use", "delete"), (25, 15, 10, 30, 20))[0]:
            case "extend":
                self._extend(client, promise)
            case "shorten":
                begun = max(self._day.minute(), promise.start)
                left = ((promise.end or begun) - begun) // MINUTE
                if left > 5:
                    self._update(
                        client, promise, "shorten", end=begun + self._chance.randint(2, left) * MINUTE
                    )
            case "move":
                start, end = period_of(self._day, self._chance.randint(10, 90) * MINUTE, self._chance)
                if start is not None and promise.start > self._day.now():
                    self._update(client, promise, "move", start=start, end=end)
            case "use":
                self._use(client, control)
            case "delete":
                self._mine.remove(promise)
                self._delete(client, promise)

    def _extend(self, client: TimedClient, promise: Promise) -> None:
        longer = self._chance.randint(5, 60) * MINUTE
        if promise.end is None or promise.end <= self._day.now():
            return
        end = end_of(self._day, promise.end, longer)
        if not promise.end < end <= promise.end + longer:
            return
        if self._chance.random() < 0.7:
            self._update(client, promise, "extend", end=end)
            return
        body = {"end_date": shown(end), "ttl_seconds": _TTL_SECONDS}
        answer = client.ask("offer of a change", "POST", f"/leases/{promise.lease_id}/offers", body)
        if answer.said is Said.DONE:
            self._update(client, promise, "take offer", end=end, offer_id=answer.body["offer"]["id"])

    def _update(
        self,
        client: TimedClient,
        promise: Promise,
        kind: str,
        *,
        end: datetime,
        start: datetime | None = None,
        offer_id: str | None = None,
    ) -> None:
        dates = {"end_date": shown(end), **({"start_date": shown(start)} if start else {})}
        body = {"offer_id": offer_id} if offer_id else dates
        answer = client.ask(kind, "PUT", f"/leases/{promise.lease_id}", body)
        if answer.said is Said.UNKNOWN:
            # It stays unknown after later answers: a paused manager may apply the change when it resumes.
            promise.end = None
        elif answer.said is Said.DONE:
            dates_now = self._dates_of(answer.body["lease"], start or promise.start, end)
            if promise.end is not None:
                promise.start, promise.end = dates_now
            if offer_id:
                self._figures.note_offer_taken()

    def _use(self, client: TimedClient, control: CloudControl) -> None:
        """Boot a server in a running lease; it is deleted with the lease."""
        running = [
            each
            for each in self._mine
            if each.start <= self._day.now() < (each.end or each.start) and each.resource_type in _HINTS
        ]
        if not running:
            return
        promise = self._chance.choice(running)
        answer = client.ask("show", "GET", f"/leases/{promise.lease_id}")
        if answer.said is not Said.DONE or answer.body["lease"]["status"] != "ACTIVE":
            return
        try:
            control.boot_server("server", PROJECT, **{_HINTS[promise.resource_type]: promise.reservation_id})
        except requests.RequestException:
            # The lease has ended in the meantime, or is full.
            return
        self._figures.note_server()

    def _delete(self, client: TimedClient, promise: Promise) -> None:
        answer = client.ask("delete", "DELETE", f"/leases/{promise.lease_id}")
        is_gone = answer.said is Said.DONE or answer.status == requests.codes.not_found
        promise.is_deleted = True if is_gone else (None if answer.said is Said.UNKNOWN else False)


def live(run: Run, users: Sequence[User]) -> None:
    """Let users live until the end of the day; return when all have finished."""
    for each in users:
        each.start()
    run.day.wait_until(run.day.end, run.is_over)
    run.is_over.set()
    for each in users:
        each.join()


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
