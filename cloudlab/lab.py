"""The lab as used by tests."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session

from cloudlab import details, plan, rest
from cloudlab.details import Details
from cloudlab.errors import LabError
from cloudlab.folder import Folder
from cloudlab.service import Service
from cloudlab.services import all_services

_REQUEST: Final = re.compile(r'\S+ \[.*?\] "(\S+) (\S+) \S+" (\d+) \d+ \d+ms "(.*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request that an API has served."""

    method: str
    path: str
    """The path with its query."""
    status: int
    user_agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStackLab:
    """A lab that has been set up; it may be running or not."""

    folder: Folder
    details: Details
    services: Mapping[str, Service]
    """Services by name: ``nova-api``, ``nova-compute-node-1``, ``mariadb``, ``blazar-manager-1``…"""

    @classmethod
    def load(cls, folder: str | None = None) -> OpenStackLab:
        """Return the lab in a folder; by default the one that ``make cloud`` starts.

        Raises:
            LabError: The folder has no lab.
        """
        chosen = Folder.chosen(folder)
        known, planned = details.read(chosen), plan.read(chosen)
        if planned is None:
            raise LabError(f"{chosen.plan} is gone: make cloud")
        return cls(folder=chosen, details=known, services=all_services(planned))

    @classmethod
    def of_this_process(cls) -> OpenStackLab:
        """Return the lab for this process of a test run: every worker of pytest-xdist has a lab of its own.

        Raises:
            LabError: There are fewer labs than workers.
        """
        worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
        return cls.load(str(Folder.chosen().lab(int(worker.removeprefix("gw")) + 1).root))

    def service(self, name: str) -> Service:
        """Return a service by name.

        Raises:
            LabError: No service has this name.
        """
        try:
            return self.services[name]
        except KeyError:
            raise LabError(f"no such service: {name}; there are {', '.join(self.services)}") from None

    def silent_services(self, since: datetime | None = None) -> list[str]:
        """Return the names of the services that do not respond; empty if the lab is up.

        Args:
            since: If given, Nova's compute services must have reported after this.
        """
        return [name for name, service in self.services.items() if not service.answers(since)]

    def session(self, account: str = "admin") -> Session:
        """Return the session of one of ``details.accounts``; it requests a token when it needs one."""
        who = self.details.accounts[account]
        return _session(self.details.auth_url, who.user, who.password, who.project)

    def api(self, service_type: str, account: str = "admin") -> Adapter:
        """Return a client of a service: an adapter for the endpoint in the catalog.

        An unsuccessful status is raised as an error of keystoneauth; with ``raise_exc=False`` the response is
        returned instead. ``microversion="2.37"`` selects a version.
        """
        return rest.make_adapter(self.session(account), service_type)

    def access_log(self, name: str) -> Path:
        """Return the file of all requests to an API."""
        return self.folder.access_log(name)

    def requests(self, name: str) -> list[Request]:
        """Return all requests that an API has served so far, in the order of its log.

        A request is in the log a moment after its answer. Who asked can be told from the user agent;
        the lab's own begin with ``cloudlab``.
        """
        lines = self.access_log(name).read_text(errors="replace").splitlines()
        return [
            Request(method=found[1], path=found[2], status=int(found[3]), user_agent=found[4])
            for line in lines
            if (found := _REQUEST.fullmatch(line)) is not None
        ]


@cache
def _session(auth_url: str, user: str, password: str, project: str) -> Session:
    """Return the same session each time: with a new token, every API asks Keystone about it."""
    return rest.make_session(auth_url, user, password, project)
