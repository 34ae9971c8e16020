"""The installation to measure, and its preparation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from multiprocessing import get_context
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from bench.filling import book, fill_hosts
from bench.service.client import Client, client_of
from bench.service.effort import Effort
from bench.service.floors import Floors, floors_of
from bench.service.statements import StatementCount
from blazar.cloud.simulated.furnishing import PHYSICAL_NETWORK, STORAGE_POOLS
from cloudlab.blazar import PLUGINS
from cloudlab.files import Sections
from cloudlab.wsgi import Workers
from rig.cloud import CloudControl
from rig.installation import Installation, running
from rig.wanted import Database, Wanted

CLIENTS: Final = 8
PROJECT: Final = "bench"
USER: Final = "admin"
FLAVOR: Final = "bench"
_OPTIONS: Final[Sections] = {
    # Periodic tasks that process all hosts would distort measurements at the same time.
    "manager": {
        "sweep_interval_minutes": 0,
        "plugins": ",".join(PLUGINS),
    },
    "physical:host": {"refresh_interval_minutes": 0},
    "virtual:volume": {"check_interval_minutes": 0},
    "network": {"check_interval_minutes": 0},
}
_MOST_LEASES: Final = 60_000
_VLANS: Final = "201-300"
_LOADED: Final = "all bookings are loaded"
"""What a manager logs when it has read the whole database."""
_SECONDS_TO_LOAD: Final = 300
_RESULT = TypeVar("_RESULT")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredInstallation:
    """An installation, with tools to observe it from outside."""

    installation: Installation
    effort: Effort
    engine: sa.Engine
    """Engine for the service's database."""
    floors: Floors
    control: CloudControl
    statements: StatementCount

    def client(self, project_id: str = PROJECT, roles: str = "admin,member,reader") -> Client:
        """Return a client of the API; the default identity is an operator."""
        return client_of(self.installation.url, USER, project_id, roles)

    @contextmanager
    def managers_away(self) -> Iterator[None]:
        """Stop the managers during the block; afterwards they have read the database again."""
        for manager in self.installation.managers:
            manager.kill()
        before = self._loads()
        yield
        for manager in self.installation.managers:
            manager.start()
        for manager in self.installation.managers:
            manager.wait_until_answers()
        # They answer before, but until then, each needs a core for itself.
        self.wait(lambda: self._loads() >= before + len(self.installation.managers), _SECONDS_TO_LOAD)
        self._warm_up()

    def empty(self) -> None:
        """Empty the database; the managers must be stopped."""
        self.engine.dispose()
        self.installation.renew_database()
        self.statements.prepare()

    def fill(self, hosts: int, before: int, after: int, leases: int) -> int:
        """Add hosts or bookings; return the total number of leases.

        Args:
            hosts: Number of hosts; they must exist if *before* or *leases* is not 0.
            before: Present number of bookings of each host.
            after: New number of bookings of each host.
            leases: Present number of leases.
        """
        if before == 0 and leases == 0:
            fill_hosts(self.engine, hosts)
        if before == after:
            return leases
        rounds = range(before, after)
        per_lease = 1 if hosts * len(rounds) <= _MOST_LEASES else 10
        return book(self.engine, hosts, rounds, per_lease, leases)

    def register_others(self) -> None:
        """Register the storage pools of the cloud, and segments; those that are registered stay."""
        client = self.client().at("1.1")
        vlans = {"network_type": "vlan", "physical_network": PHYSICAL_NETWORK, "segment_id": _VLANS}
        pools = [("/storage-pools", {"name": name}) for name in STORAGE_POOLS]
        for path, body in (*pools, ("/networks", vlans)):
            answer = client.ask("POST", path, body)
            if answer.status != HTTPStatus.CONFLICT:
                answer.expect(HTTPStatus.CREATED)

    def wait(self, check: Callable[[], bool], seconds: float, every_seconds: float = 0.05) -> None:
        """Return when *check* returns true. Raises RuntimeError after a timeout."""
        never = threading.Event()
        for _ in range(int(seconds / every_seconds)):
            if check():
                return
            never.wait(every_seconds)
        if not check():
            raise RuntimeError(f"not within {seconds:g} seconds")

    def scalar(self, statement: str, **values: Any) -> Any:
        """Return the first value of a query of the service's database."""
        with self.engine.connect() as connection:
            return connection.scalar(sa.text(statement), values)

    def _loads(self) -> int:
        """Return how often managers have loaded all bookings, by their logs."""
        logs = (self.installation.log(each.name) for each in self.installation.managers)
        return sum(each.read_text().count(_LOADED) for each in logs)

    def _warm_up(self) -> None:
        """Send a request to each process, so that no connection is opened during a measurement."""
        client = self.client()
        together(lambda _: client.ask("GET", "/os-hosts/0"), range(6 * CLIENTS))


@contextmanager
def measured_installation(
    database: Database, effort: Effort, *, managers: int = 2, api_processes: int = 2
) -> Iterator[MeasuredInstallation]:
    """Yield an empty installation; it is removed after the block."""
    wanted = Wanted(
        database=database,
        managers=managers,
        api=Workers(processes=api_processes),
        hosts=max(*effort.sizes, effort.due_leases, effort.big_lease_hosts),
        options=_OPTIONS,
    )
    with running(wanted) as installation:
        # Insert many rows with one statement, where the driver would send them one by one.
        options = {"executemany_mode": "values_plus_batch"} if database == "postgresql" else {}
        engine = sa.create_engine(installation.database_url, pool_pre_ping=True, **options)
        control = CloudControl(installation.cloud_url)
        with floors_of(installation) as floors:
            statements = StatementCount(engine)
            statements.prepare()
            yield MeasuredInstallation(
                installation=installation,
                effort=effort,
                engine=engine,
                floors=floors,
                control=control,
                statements=statements,
            )
        control.close()
        engine.dispose()


def in_own_process(measure: Callable[..., _RESULT], *arguments: Any) -> _RESULT:
    """Return the result of a function that is called in a new process.

    A program that measures several installations needs this, since the libraries read one configuration in
    each process.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(measure, *arguments).result()


def together(act: Callable[[Any], _RESULT], items: Sequence[Any]) -> list[_RESULT]:
    """Return the results of *act* for each item, called by eight threads."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(act, items))
