"""A plugin with a bug, for faults beyond those that the plugin authors' test kit injects."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment, Outcome
from blazar.plugins.hosts.items import HostItem, HostsSeen, Kind
from blazar.plugins.hosts.plugin import Hosts
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.spec import HostSpec
from blazar.ports.cloud import Cloud


class FaultyHosts(Hosts):
    """The hosts plugin with a bug in one of its methods."""

    def __init__(
        self, settings: HostSettings, step: str, service_host: str, error: Callable[[], Exception]
    ) -> None:
        super().__init__(settings)
        self.step = step
        self._service_host = service_host
        self._error = error
        self.tried_at: list[datetime] = []
        """The times at which the faulty method was called."""

    def observe(self, cloud: Cloud, assignment: Assignment[HostSpec], phase: Phase) -> HostsSeen:
        self._fail("observe", self._service_host, assignment)
        return super().observe(cloud, assignment, phase)

    def wanted(self, assignment: Assignment[HostSpec], phase: Phase) -> frozenset[HostItem]:
        wanted = super().wanted(assignment, phase)
        return wanted | {HostItem(Kind.SERVER)} if self.step == "wanted" and wanted else wanted

    def make(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        self._fail("make", item.service_host, assignment)
        return super().make(cloud, assignment, item, seen)

    def remove(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        self._fail("remove", item.service_host, assignment)
        return super().remove(cloud, assignment, item, seen)

    def before_end(self, cloud: Cloud, assignment: Assignment[HostSpec], due: datetime) -> Outcome:
        self._fail("before_end", self._service_host, assignment)
        return super().before_end(cloud, assignment, due)

    def _fail(self, step: str, service_host: str, assignment: Assignment[HostSpec]) -> None:
        if self.step == step and self._service_host in ("", service_host):
            self.tried_at.append(assignment.now)
            raise self._error()
