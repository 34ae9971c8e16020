"""What goes wrong in a run, beside what authors of plugins can have go wrong, too: a bug in a plugin."""

from __future__ import annotations

from datetime import datetime

from blazar.plugins.contract import Assignment, Outcome
from blazar.plugins.hosts.items import HostItem, HostsSeen
from blazar.plugins.hosts.plugin import Hosts
from blazar.plugins.hosts.spec import HostSpec
from blazar.ports.cloud import Cloud
from blazar.settings import HostSettings


class FaultyHosts(Hosts):
    """The plugin with a bug in one of its methods."""

    def __init__(self, settings: HostSettings, step: str, service_host: str) -> None:
        super().__init__(settings)
        self._step = step
        self._service_host = service_host

    def make(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        if self._step == "make" and self._service_host in ("", item.service_host):
            raise ZeroDivisionError
        return super().make(cloud, assignment, item, seen)

    def before_end(self, cloud: Cloud, assignment: Assignment[HostSpec], due: datetime) -> Outcome:
        if self._step == "before_end":
            raise ZeroDivisionError
        return super().before_end(cloud, assignment, due)
