"""Operators: hosts that fail and come back, and maintenance of racks and hosts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any, Final

from faults.client import Said
from faults.lessees import HOSTS, MINUTE

from bench.day.figures import TimedClient
from bench.day.run import Run
from bench.day.wishes import RACKS, shown

_LAST: Final = 0.8
"""The share of the day after which no host fails and no maintenance begins."""
_ATTEMPTS: Final = 20
_PAUSE_SECONDS: Final = 1
_Act = Callable[[TimedClient], None]


class Operators:
    """A thread that does what was planned, from :meth:`start` until the day ends."""

    def __init__(self, run: Run, *, hosts: int, failures: int, maintenances: int) -> None:
        """Plan the day.

        Args:
            run: The run.
            hosts: The number of hosts.
            failures: The number of hosts that fail; each comes back.
            maintenances: The number of maintenances: of racks for a period, and of single hosts until ended.
        """
        self.failures = self.maintenances = 0
        self._run, self._site, self._day, self._is_over = run, run.site, run.day, run.is_over
        self._hosts, self._chance = hosts, run.chance("operators")
        self._plan: list[tuple[datetime, _Act]] = []
        for name in self._chance.sample([f"host-{number}" for number in range(1, hosts + 1)], failures):
            self._plan_failure(name)
        for number in range(maintenances):
            self._plan_maintenance(is_of_rack=number % 2 == 0)
        self._plan.sort(key=lambda each: each[0])
        self._thread = threading.Thread(target=self._work, name="operators")
        self.start, self.join = self._thread.start, self._thread.join

    def _plan_failure(self, name: str) -> None:
        fails_at = self._day.at(self._chance.uniform(0.02, _LAST))
        back_at = min(fails_at + self._chance.randint(10, 90) * MINUTE, self._day.at(0.95))
        self._plan += [
            (fails_at, lambda operator: self._set_host(name, is_up=False)),
            (back_at, lambda operator: self._set_host(name, is_up=True)),
        ]

    def _set_host(self, name: str, *, is_up: bool) -> None:
        self._site.control.set_host_state(name, is_up=is_up)
        self.failures += not is_up

    def _plan_maintenance(self, *, is_of_rack: bool) -> None:
        at = self._day.at(self._chance.uniform(0.02, _LAST))
        length = (self._day.end - self._day.start) * self._chance.uniform(0.05, 0.15)
        if is_of_rack:
            ahead = self._chance.randint(0, 20) * MINUTE
            what = {"filter": f"rack=r{self._chance.randrange(RACKS)}"}
            self._plan.append((at, lambda operator: self._declare(operator, what, ahead, length)))
            return
        name = f"host-{self._chance.randint(1, self._hosts)}"
        self._plan += [
            (at, lambda operator: self._declare(operator, {"resources": [name]}, timedelta(0), None)),
            (at + length, lambda operator: self._end_all(operator, without_end=True)),
        ]

    def _declare(
        self, operator: TimedClient, what: dict[str, Any], ahead: timedelta, length: timedelta | None
    ) -> None:
        start = self._day.now() + ahead
        end = None if length is None else min(start + length, self._day.at(0.95))
        body = {
            "resource_type": HOSTS,
            **what,
            "start_date": shown(start) if ahead else "now",
            "end_date": None if end is None else shown(end),
            "reason": "a day in the life of a site",
        }
        if self._insist(operator, "maintenance", "POST", "/maintenance", body):
            self.maintenances += 1

    def _end_all(self, operator: TimedClient, *, without_end: bool) -> None:
        answer = operator.ask("list maintenance", "GET", "/maintenance")
        for each in answer.body["maintenances"] if answer.said is Said.DONE else []:
            if not (without_end and each["end_date"]):
                self._insist(operator, "end maintenance", "DELETE", f"/maintenance/{each['id']}")

    def _insist(self, operator: TimedClient, kind: str, method: str, path: str, body: object = None) -> bool:
        """Repeat a request until it is answered; return whether it was granted."""
        for _ in range(_ATTEMPTS):
            answer = operator.ask(kind, method, path, body)
            if answer.said is not Said.UNKNOWN:
                return answer.said is Said.DONE
            self._is_over.wait(_PAUSE_SECONDS)
        return False

    def _work(self) -> None:
        with closing(self._run.client("admin")) as operator:
            for instant, act in self._plan:
                if not self._day.wait_until(instant, self._is_over):
                    return
                try:
                    act(operator)
                except AssertionError as error:
                    self._run.figures.note_problem(f"operators: {error!r}")

    def restore(self) -> None:
        """Let all hosts come back, and end all maintenance."""
        for each in self._site.control.state()["hypervisors"]:
            if not each["is_up"]:
                self._site.control.set_host_state(each["service_host"], is_up=True)
        with closing(self._run.client("admin")) as operator:
            self._end_all(operator, without_end=False)
