"""Upgrades and faults of processes and of the cloud, one after the other, at random times of the day."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from faults.troubles import TROUBLES, Targets

from bench.day.pace import Day
from bench.day.run import Run
from bench.day.site import Site
from cloudlab.service import SECONDS_TO_ANSWER, Service
from cloudlab.waiting import wait_until
from cloudlab.wsgi import reload_file

UPGRADE: Final = "upgrade"
FAULTS: Final = tuple(each for each in TROUBLES if each not in ("nothing", "rolling-restart"))
"""The kinds of faults; rolling restarts are the upgrades of the day."""
_FIRST: Final = 0.05
_LAST: Final = 0.9
Upgrade = Callable[[Site], None]
"""Replaces all processes of the service by those of the next release, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """An upgrade or a period of faults."""

    name: str
    began_at: datetime
    ended_at: datetime
    strikes: int
    """The number of faults in the period; of an upgrade, the number of replaced processes."""


def restart_all(site: Site) -> None:
    """Replace each manager, then the workers of the API, as in an upgrade; the API keeps listening."""
    for each in site.installation.managers:
        each.stop()
        each.start()
        each.wait_until_answers()
    api = site.installation.service("blazar-api")
    before = _workers(api)
    reload_file(site.installation.plan, api.name).touch()
    wait_until(
        lambda: not before & _workers(api) and len(_workers(api)) >= len(before),
        "the workers of the API are new",
        seconds=SECONDS_TO_ANSWER,
    )


def _workers(api: Service) -> frozenset[int]:
    """Return the ids of the processes of the API without the one that started them."""
    return frozenset(each.pid for each in api.members()) - {api.pid}


class Happenings:
    """A thread that lets them happen, from :meth:`start` until the day ends."""

    def __init__(
        self,
        run: Run,
        plan: Sequence[tuple[datetime, str]],
        *,
        fault_seconds: float,
        upgrade: Upgrade = restart_all,
    ) -> None:
        """Prepare them.

        Args:
            run: The run.
            plan: The beginning of each, in order; one that lasts until the next one's time delays that.
            fault_seconds: The real length of each period of faults.
            upgrade: Makes an upgrade.
        """
        self.done: list[Happening] = []
        self.problem: BaseException | None = None
        self._run, self._site, self._day, self._is_over = run, run.site, run.day, run.is_over
        self._plan, self._seconds, self._upgrade = plan, fault_seconds, upgrade
        self._thread = threading.Thread(target=self._work, name="happenings")
        self.start, self.join = self._thread.start, self._thread.join

    def _work(self) -> None:
        try:
            for number, (instant, name) in enumerate(self._plan):
                if not self._day.wait_until(instant, self._is_over):
                    return
                with self._noted(name, self._run.chance(f"happening-{number}")) as targets:
                    self._let_happen(name, targets)
        except BaseException as error:
            self.problem = error
            self._is_over.set()
            raise

    @contextmanager
    def _noted(self, name: str, chance: random.Random) -> Iterator[Targets]:
        targets = Targets(self._site.installation, self._site.control, self._site.gateway, chance)
        began_at = self._day.now()
        yield targets
        ended_at = self._day.now()
        self.done.append(Happening(name=name, began_at=began_at, ended_at=ended_at, strikes=targets.strikes))

    def _let_happen(self, name: str, targets: Targets) -> None:
        if name == UPGRADE:
            self._upgrade(self._site)
            targets.strikes = len(self._site.installation.managers) + 1
            return
        with ThreadPoolExecutor(1, name) as pool:
            striking = pool.submit(TROUBLES[name], targets)
            self._is_over.wait(self._seconds)
            targets.is_over.set()
        # Raises the error of the trouble.
        striking.result()
        for each in self._site.installation.services.values():
            each.start()
            each.wait_until_answers()


def plan_of(day: Day, chance: random.Random, *, upgrades: int, faults: int) -> list[tuple[datetime, str]]:
    """Return the beginnings of upgrades and faults: each kind of fault comes once before any comes twice."""
    count = upgrades + faults
    kinds: list[str] = []
    while len(kinds) < faults:
        kinds += chance.sample(FAULTS, len(FAULTS))
    names = kinds[:faults]
    for number in range(upgrades):
        names.insert(round((number + 0.5) * count / upgrades), UPGRADE)
    step = (_LAST - _FIRST) / max(1, count)
    return [
        (day.at(_FIRST + step * (number + 0.3 * chance.random())), name) for number, name in enumerate(names)
    ]
