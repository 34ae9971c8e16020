"""A whole installation of the service that exists for a ``with`` block."""

from __future__ import annotations

import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from blazar.manager.clocks import FastClock
from cloudlab import blazar, mariadb, ports, probes, rabbitmq, sql
from cloudlab.commands import plain_environment
from cloudlab.folder import REPOSITORY, Folder
from cloudlab.plan import Plan
from cloudlab.service import Service
from rig import (
    configuration,
    galera,
    needs,
    postgresql,
    postgresql_pair,
    rabbitmq_cluster,
    releases,
    web_server,
)
from rig.releases import Release
from rig.wanted import Wanted

_PORTS: Final = ("cloud", "nginx", "floor")
_BROKER_PORTS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("rabbitmq", "rabbitmq-distribution", "epmd"),
    3: rabbitmq_cluster.PORTS,
}
_DATABASE_PORTS: Final[Mapping[str, tuple[str, ...]]] = {
    "mariadb": ("mariadb",),
    "postgresql": postgresql_pair.NAMES,
    "galera": galera.PORTS,
}
_PASSWORDS: Final = ("mariadb", "postgresql", "rabbitmq", "blazar")
_DATABASE: Final = "blazar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The processes of an installation and their URLs.

    Each service can be stopped, killed, paused, resumed, started and waited for separately. Their names are
    ``mariadb``, ``postgresql`` (and ``postgresql-2``) or ``galera-1``…, ``epmd``, ``rabbitmq`` or
    ``rabbitmq-1``…, ``cloud``, ``blazar-manager-1``…, ``blazar-api``, ``blazar-api-2``…, ``nginx``.
    """

    plan: Plan
    wanted: Wanted
    services: dict[str, Service]
    """Services by name; each comes after the services that it depends on."""

    @property
    def url(self) -> str:
        """Return the URL of version 1 of the API, at the web server if the installation has one."""
        return f"{self.plan.url('nginx' if self.wanted.has_web_server else 'blazar-api')}/v1"

    @property
    def urls(self) -> tuple[str, ...]:
        """Return the URL of version 1 of each API."""
        return tuple(f"{self.plan.url(each.name)}/v1" for each in self.apis)

    @property
    def cloud_url(self) -> str:
        """Return the URL of the simulated OpenStack."""
        return self.plan.url("cloud")

    @property
    def auth_url(self) -> str:
        """Return the URL of its Keystone."""
        return configuration.auth_url(self.plan)

    @property
    def transport_url(self) -> str:
        """Return the URL of the message broker."""
        return self.plan.transport_url

    @property
    def database_url(self) -> str:
        """Return the URL of the service's database; on Galera, that of the first node."""
        return _database_url(self.plan, self.wanted, _DATABASE)

    @property
    def database_urls(self) -> tuple[str, ...]:
        """Return the URLs of the service's database on each of its servers."""
        return tuple(_database_url(self.plan, self.wanted, _DATABASE, each.name) for each in self.databases)

    @property
    def databases(self) -> tuple[Service, ...]:
        """Return the database's servers."""
        return tuple(self.services[name] for name in _database_names(self.wanted))

    @property
    def brokers(self) -> tuple[Service, ...]:
        """Return the nodes of the message broker."""
        return tuple(self.services[name] for name in self.plan.brokers)

    @property
    def managers(self) -> tuple[Service, ...]:
        """Return the managers."""
        return tuple(each for name, each in self.services.items() if name.startswith("blazar-manager"))

    @property
    def apis(self) -> tuple[Service, ...]:
        """Return the APIs."""
        return tuple(each for name, each in self.services.items() if name.startswith("blazar-api"))

    def service(self, name: str) -> Service:
        """Return a service by name."""
        return self.services[name]

    def on_clock(self, clock: FastClock) -> Installation:
        """Replace the managers by managers on a fast clock; return when these serve.

        Returns:
            The installation with them; this object must not be used any more.
        """
        wanted = replace(self.wanted, clock=clock)
        for each in self.managers:
            each.stop()
        managers = {each.name: each for each in _managers(self.plan, wanted, wanted.release)}
        changed = replace(self, wanted=wanted, services={**self.services, **managers})
        for each in changed.managers:
            each.start()
        for each in changed.managers:
            each.wait_until_answers()
        return changed

    def restart(self, *names: str) -> None:
        """Stop services in order and start them again; return when they respond."""
        for name in names:
            self.services[name].stop()
        for name in names:
            self.services[name].start()
        for name in names:
            self.services[name].wait_until_answers()

    def change_release(self, name: str, release: Release) -> None:
        """Stop a manager or an API, and start it with a release; return when it responds."""
        (service,) = (each for each in _of_release(self.plan, self.wanted, release) if each.name == name)
        self.services[name].stop()
        self.services[name] = service
        service.start()
        service.wait_until_answers()

    def renew_database(self) -> None:
        """Create the service's empty tables again; no manager may run."""
        self.make_database(_DATABASE)
        blazar.upgrade(self.plan, releases.programs(self.wanted.release))

    def make_database(self, name: str) -> str:
        """Return the URL of a new database without tables; an existing one with this name is dropped."""
        if self.wanted.database == "postgresql":
            postgresql.make_anew(self.plan, name)
        else:
            sql.make_anew(self.plan, name, charset="utf8mb4")
        return _database_url(self.plan, self.wanted, name)

    def log(self, name: str) -> Path:
        """Return the output file of a service."""
        return self.plan.folder.log(name)


@contextmanager
def running(wanted: Wanted | None = None) -> Iterator[Installation]:
    """Yield an installation whose services all respond; it is removed afterwards.

    If the block raises, its logs are kept, and the error has their path.

    Raises:
        LabError: A required program is not installed, or a service does not start.
    """
    wanted = wanted or Wanted()
    needs.check(wanted.database, has_web_server=wanted.has_web_server)
    root = Path(tempfile.mkdtemp(prefix="blazar-rig-"))
    # The database server may run under another account; the secrets below are readable by the owner only.
    root.chmod(0o711)
    installation = _plan(Folder(root.resolve()), wanted)
    try:
        _bring_up(installation)
        yield installation
    except BaseException as error:
        _end(installation)
        shutil.rmtree(installation.plan.folder.all_data, ignore_errors=True)
        error.add_note(f"logs: {installation.plan.folder.all_logs}")
        raise
    _end(installation)
    shutil.rmtree(root)


def _plan(folder: Folder, wanted: Wanted) -> Installation:
    apis = _api_names(wanted)
    broker, database = _BROKER_PORTS[wanted.broker_nodes], _DATABASE_PORTS[wanted.database]
    chosen = ports.choose((*_PORTS, *apis, *broker, *database))
    if wanted.database == "galera":
        # Tools that support a single server use this port.
        chosen = {**chosen, "mariadb": chosen[galera.NODES[0]]}
    plan = Plan(
        folder=folder,
        hosts=(),
        # All services of the simulated OpenStack share one port.
        ports={**chosen, "keystone": chosen["cloud"]},
        passwords={name: secrets.token_hex(16) for name in _PASSWORDS},
        brokers=rabbitmq_cluster.NODES if wanted.broker_nodes > 1 else ("rabbitmq",),
    )
    services = (
        *_database_services(plan, wanted),
        *(rabbitmq_cluster if wanted.broker_nodes > 1 else rabbitmq).services(plan),
        *_cloud(plan, wanted),
        *_of_release(plan, wanted, wanted.release),
        *((web_server.service(plan),) if wanted.has_web_server else ()),
    )
    return Installation(plan=plan, wanted=wanted, services={each.name: each for each in services})


def _of_release(plan: Plan, wanted: Wanted, release: Release) -> tuple[Service, ...]:
    """Return the managers and the APIs as processes of a release."""
    programs = releases.programs(release)
    apis = (blazar.api(plan, wanted.api, name=each, programs=programs) for each in _api_names(wanted))
    return (*_managers(plan, wanted, release), *apis)


def _managers(plan: Plan, wanted: Wanted, release: Release) -> tuple[Service, ...]:
    names = [f"blazar-manager-{number}" for number in range(1, wanted.managers + 1)]
    command = _fast_manager(wanted) or (blazar.program("blazar-manager", releases.programs(release)),)
    return blazar.managers(plan, names, configuration.own_files(plan, wanted, names), command=command)


def _api_names(wanted: Wanted) -> tuple[str, ...]:
    return ("blazar-api", *(f"blazar-api-{number}" for number in range(2, wanted.apis + 1)))


def _bring_up(installation: Installation) -> None:
    """Start all services, slow ones in parallel."""
    steps: tuple[Callable[[Installation], None], ...] = (_start_database, _start_broker, _start_cloud)
    with ThreadPoolExecutor(len(steps)) as pool:
        for begun in [pool.submit(step, installation) for step in steps]:
            begun.result()
    ours = [*installation.managers, *installation.apis]
    for service in ours:
        service.start()
    for service in ours:
        service.wait_until_answers()
    if installation.wanted.has_web_server:
        web_server.configure(installation.plan)
        _start(installation, "nginx")


def _start_database(installation: Installation) -> None:
    match installation.wanted.database:
        case "mariadb":
            mariadb.configure(installation.plan)
            mariadb.make_data(installation.plan)
            _start(installation, "mariadb")
        case "postgresql":
            postgresql.make_data(installation.plan)
            _start(installation, "postgresql")
            for each in installation.databases[1:]:
                if isinstance(each, postgresql.Server):
                    postgresql_pair.add_standby(installation.plan, each, "postgresql")
        case "galera":
            galera.make_data(installation.plan)
            galera.start(
                installation.plan,
                tuple(each for each in installation.databases if isinstance(each, galera.Node)),
            )
    configuration.write(installation.plan, installation.wanted, installation.database_url)
    names = [each.name for each in installation.managers]
    configuration.write_own_files(installation.plan, installation.wanted, names, installation.database_urls)
    installation.renew_database()


def _start_broker(installation: Installation) -> None:
    is_cluster = installation.wanted.broker_nodes > 1
    (rabbitmq_cluster if is_cluster else rabbitmq).configure(installation.plan)
    _start(installation, "epmd")
    if is_cluster:
        rabbitmq_cluster.start(installation.brokers)
    else:
        _start(installation, "rabbitmq")


def _start_cloud(installation: Installation) -> None:
    if installation.wanted.hosts is not None:
        _start(installation, "cloud")


def _start(installation: Installation, name: str) -> None:
    service = installation.service(name)
    service.start()
    service.wait_until_answers()


def _end(installation: Installation) -> None:
    """Kill all services at once; their data is discarded."""
    with ExitStack() as all_of_them:
        # The last service entered is stopped first; if one cannot be stopped, the others still are.
        for service in installation.services.values():
            all_of_them.callback(service.kill)


def _database_services(plan: Plan, wanted: Wanted) -> tuple[Service, ...]:
    match wanted.database:
        case "mariadb":
            return mariadb.services(plan)
        case "postgresql":
            servers = postgresql_pair.services(plan)
            return servers if wanted.has_standby else servers[:1]
        case "galera":
            return galera.services(plan, wanted.applier_threads)


def _database_names(wanted: Wanted) -> tuple[str, ...]:
    if wanted.database == "galera":
        return galera.NODES
    return postgresql_pair.NAMES if wanted.has_standby else (wanted.database,)


def _database_url(plan: Plan, wanted: Wanted, database: str, server: str | None = None) -> str:
    if wanted.database == "postgresql":
        url = postgresql_pair.database_url if wanted.has_standby else postgresql.database_url
        return url(plan, database)
    return galera.database_url(plan, server or "mariadb", database)


def _fast_manager(wanted: Wanted) -> tuple[str, ...]:
    """Return the start of the command of managers on a fast clock; empty if they have that of the machine."""
    clock = wanted.clock
    if clock is None:
        return ()
    program = REPOSITORY / "rig" / "fast_manager.py"
    # With -P, modules of the rig do not hide others of the same name.
    return (sys.executable, "-P", str(program), clock.epoch.isoformat(), str(clock.speed))


def _cloud(plan: Plan, wanted: Wanted) -> tuple[Service, ...]:
    if wanted.hosts is None:
        return ()
    port = plan.ports["cloud"]
    options = ("--hosts", wanted.hosts, "--latency-ms", wanted.latency_ms, "--port", port)
    service = Service(
        name="cloud",
        folder=plan.folder,
        command=(sys.executable, "-m", "rig.cloud", *(str(each) for each in options)),
        environment=plain_environment(PYTHONPATH=str(REPOSITORY)),
        check=lambda since: probes.serves_http(port),
    )
    return (service,)
