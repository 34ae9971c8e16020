"""Processor time and memory of each kind of process in the course of the day."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType

from bench.day.pace import Day
from bench.day.site import Site
from rig.usage import own_processor_seconds, resident_mebibytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The use by one kind of process since the previous sample."""

    at: datetime
    kind: str
    cores: float
    """Processor time divided by real time."""
    mebibytes: float
    largest: float
    """The memory of the largest service of this kind, in MiB."""


class Watch:
    """A thread that takes samples inside a ``with`` statement."""

    def __init__(self, site: Site, day: Day, *, every_seconds: float) -> None:
        self.samples: list[Sample] = []
        self._site, self._day, self._every_seconds = site, day, every_seconds
        self._is_over = threading.Event()
        self._seconds: dict[int, float] = {}
        self._thread = threading.Thread(target=self._run, name="watch")

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        list(self._take(1))
        before = time.monotonic()
        while not self._is_over.wait(self._every_seconds):
            now = time.monotonic()
            self.samples += self._take(now - before)
            before = now

    def _take(self, passed: float) -> Iterator[Sample]:
        at, seconds = self._day.now(), {}
        for kind, services in self._pids().items():
            worked = 0.0
            for pid in (pid for pids in services for pid in pids):
                seconds[pid] = own_processor_seconds(pid)
                worked += max(0.0, seconds[pid] - self._seconds.get(pid, 0.0))
            memory = [resident_mebibytes(pids) for pids in services]
            yield Sample(
                at=at, kind=kind, cores=worked / passed, mebibytes=sum(memory), largest=max(memory, default=0)
            )
        self._seconds = seconds

    def _pids(self) -> Mapping[str, list[list[int]]]:
        """Return the ids of processes, by kind and service."""
        found: dict[str, list[list[int]]] = {}
        for name, service in self._site.installation.services.items():
            found.setdefault(_kind_of(name), []).append([each.pid for each in service.members()])
        return {**found, "users": [[os.getpid()]]}


def _kind_of(name: str) -> str:
    for part, kind in (("manager", "managers"), ("api", "API"), ("cloud", "cloud"), ("rabbitmq", "broker")):
        if part in name:
            return kind
    return "broker" if name == "epmd" else "database"
