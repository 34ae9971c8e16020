"""A run: lessees at work, faults in processes, and checks afterwards."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

import numpy
import requests
from faults import cluster
from faults.aftermath import Aftermath
from faults.client import FIRST_API, NEWEST_API, Client
from faults.gateway import Gateway
from faults.lessees import FLAVOR, Ledger, Lessees
from faults.notices import Notices
from faults.troubles import CLIENT_TIMEOUT_SECONDS, Targets, Trouble

from blazar.cloud.simulated.cloud import PLAIN_FLAVOR
from blazar.db.engine import make_engine
from cloudlab.files import Sections
from cloudlab.waiting import wait_until
from rig.cloud import CloudControl
from rig.installation import Installation, running
from rig.wanted import Wanted

HOSTS = 16
FLOATING_IPS = 12
_FIRST_ADDRESS = 200
_HANDS = 6
_LONG_SECONDS = 20
_PATIENCE_SECONDS = 1800

OPTIONS: Sections = {
    "DEFAULT": {
        # A request whose manager dies is answered with 503 after this time.
        "rpc_response_timeout": 10,
    },
    "manager": {"delete_wait_seconds": 5, "longest_retry_seconds": 4, "sweep_interval_minutes": 1},
    # Messages that have left the service survive the broker's restart.
    "oslo_messaging_rabbit": {"amqp_durable_queues": True},
    **{name: {"timeout": CLIENT_TIMEOUT_SECONDS} for name in ("nova", "placement", "neutron", "glance")},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The statistics of a successful run; a failed check raises AssertionError instead."""

    name: str
    seed: int
    ledger: Ledger
    strikes: int
    seconds: float
    seconds_to_settle: float
    notices: int
    conflicts: int = 0
    """Transactions that nodes of a cluster refused, or aborted in favour of other nodes' transactions."""

    def __str__(self) -> str:
        """Return the report as one line."""
        answers = self.ledger.answers
        kinds = Counter(each.resource_type for each in self.ledger.promises)
        leases = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        said = {each: sum(answers[key] for key in answers if key.endswith(f" {each}")) for each in _SAID}
        return (
            f"{self.name}: seed {self.seed}, {self.strikes} strikes, {self.ledger.created} leases in "
            f"{self.seconds:.0f} s ({leases}); requests done {said['done']}, refused {said['refused']}, "
            f"not answered {said['unknown']}; servers {answers['server booted']}; settled after "
            f"{self.seconds_to_settle:.1f} s; {self.notices} notifications; creates p50 "
            f"{1000 * _quantile(self.ledger.seconds, 50):.0f} ms, p99 "
            f"{1000 * _quantile(self.ledger.seconds, 99):.0f} ms, {self.conflicts} conflicts"
        )


_LEFT_BEHIND = ("servers", "flavors", "server_groups", "floating_ips")
_OF_OPERATORS = (PLAIN_FLAVOR.id, FLAVOR.id)
_SAID = ("done", "refused", "unknown")
_LONGEST_EXCERPT = 20_000
"""Of logs, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultedInstallation:
    """An installation with registered hosts and floating IPs, for one run after another."""

    installation: Installation
    control: CloudControl
    notices: Notices
    aftermath: Aftermath
    gateway: Gateway
    network_id: str
    lessees: int
    """The number of lessees in each run."""
    pause_seconds: float
    """The time that each lessee waits after a new lease and a change."""
    api_version: str
    """The version of the API that lessees use."""

    def strike(self, name: str, trouble: Trouble, *, seed: int, leases: int, strikes: int = 1) -> Report:
        """Make a run, delete all its leases, and return its report.

        Args:
            name: The name of the trouble.
            trouble: The function that causes faults until it is told to stop.
            seed: The seed of all choices except those of the processes themselves.
            leases: The minimum number of leases to create.
            strikes: The minimum number of faults.

        Raises:
            AssertionError: A check failed.
            LabError: A service did not start, or there were too few leases or faults in time.
        """
        print(f"{name}: seed {seed}", flush=True)
        heard, conflicts = self.notices.counts.total(), cluster.conflicts(self.installation)
        targets = Targets(self.installation, self.control, self.gateway, random.Random(f"{seed}-trouble"))
        began = time.monotonic()
        ledger = self._work(targets, trouble, seed, leases, strikes)
        seconds = time.monotonic() - began
        problems = [*ledger.problems, *targets.problems]
        assert not problems, (seed, problems, self._unexpected_errors())
        settled = self.aftermath.wait_until_settled(ledger.promises)
        if settled > _LONG_SECONDS:
            print(f"{name}: waited for {self.aftermath.last_problem}", flush=True)
        cluster.check_nodes(self.installation)
        # A restarted node counts from 0 again.
        conflicts = max(0, cluster.conflicts(self.installation) - conflicts)
        self.clear()
        return Report(
            name=name,
            seed=seed,
            ledger=ledger,
            strikes=targets.strikes,
            seconds=seconds,
            seconds_to_settle=settled,
            notices=self.notices.counts.total() - heard,
            conflicts=conflicts,
        )

    def _work(self, targets: Targets, trouble: Trouble, seed: int, leases: int, strikes: int) -> Ledger:
        lessees = Lessees(
            self.gateway,
            self.installation.cloud_url,
            self.network_id,
            seed=seed,
            count=self.lessees,
            pause_seconds=self.pause_seconds,
            version=self.api_version,
        )
        with ThreadPoolExecutor(1, "trouble") as pool:
            striking = pool.submit(trouble, targets)

            def is_enough() -> bool:
                ledger = lessees.ledger
                is_reached = ledger.created >= leases and targets.strikes >= strikes
                return striking.done() or bool(ledger.problems) or is_reached

            try:
                wait_until(
                    is_enough,
                    f"seed {seed}: {leases} leases and {strikes} strikes",
                    seconds=_PATIENCE_SECONDS,
                    explain=lambda: f"{lessees.ledger.created} leases and {targets.strikes} strikes so far",
                )
            finally:
                targets.is_over.set()
                ledger = lessees.end()
        # Raises the error of the trouble.
        striking.result()
        for each in self.installation.services.values():
            each.start()
            each.wait_until_answers()
        return ledger

    def _unexpected_errors(self) -> str:
        """Return the log lines of unexpected errors; the logs are deleted when the installation ends."""
        lines = (
            line
            for path in sorted(self.installation.plan.folder.all_logs.glob("blazar-*.log"))
            for line in path.read_text().splitlines()
        )
        return "\n".join(line for line in lines if " ERROR blazar." in line)[-_LONGEST_EXCERPT:]

    def clear(self) -> None:
        """Delete all leases as lessees would, then check that the cloud has no leftovers."""
        with closing(self._client()) as client, ThreadPoolExecutor(_HANDS) as pool:
            # A request to a paused manager may be carried out late.
            while leases := client.get("/leases", "leases"):
                list(pool.map(self._delete, leases))
                self.aftermath.wait_until_settled()
        state = self.control.state()
        left = {key: [each for each in state[key] if each["id"] not in _OF_OPERATORS] for key in _LEFT_BEHIND}
        assert self.aftermath.leases() == ()
        assert not any(left.values()), left

    def _client(self) -> Client:
        return Client(self.gateway, "user", version=self.api_version)

    def _delete(self, lease: Mapping[str, str]) -> None:
        with closing(self._client()) as client:
            client.ask("DELETE", f"/leases/{lease['id']}")


def _quantile(values: Sequence[float], percent: int) -> float:
    return float(numpy.percentile(values, percent)) if values else 0


@contextmanager
def faulted_installation(
    wanted: Wanted | None = None, *, lessees: int = 6, pause_seconds: float = 0
) -> Iterator[FaultedInstallation]:
    """Yield a dedicated installation in which all reservable resources are registered.

    Args:
        wanted: The installation, but for its hosts and options; by default, on MariaDB with three managers.
            Lessees of the previous release use the first version of the API.
        lessees: The number of lessees in each run.
        pause_seconds: The time that each of them waits after a new lease and a change.
    """
    wanted = replace(wanted or Wanted(managers=3), hosts=HOSTS, options=OPTIONS)
    version = NEWEST_API if wanted.release == "present" else FIRST_API
    with running(wanted) as installation, Notices(installation.transport_url) as notices:
        engine, control = make_engine(installation.database_url), CloudControl(installation.cloud_url)
        gateway = Gateway(installation.urls)
        try:
            network_id = str(control.state()["networks"][0]["id"])
            control.make_flavor(FLAVOR)
            with closing(Client(gateway, "admin", "service", version=version)) as operator:
                _register(operator, network_id)
            yield FaultedInstallation(
                installation=installation,
                control=control,
                notices=notices,
                aftermath=Aftermath(engine, control, notices),
                gateway=gateway,
                network_id=network_id,
                lessees=lessees,
                pause_seconds=pause_seconds,
                api_version=version,
            )
        finally:
            control.close()
            engine.dispose()


def _register(operator: Client, network_id: str) -> None:
    for number in range(1, HOSTS + 1):
        answer = operator.ask("POST", "/os-hosts", {"name": f"host-{number}"})
        assert answer.status == requests.codes.created, answer
    for number in range(_FIRST_ADDRESS, _FIRST_ADDRESS + FLOATING_IPS):
        address = f"203.0.113.{number}"
        body = {"floating_network_id": network_id, "floating_ip_address": address}
        answer = operator.ask("POST", "/floatingips", body)
        assert answer.status == requests.codes.created, answer
