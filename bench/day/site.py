"""The site: an installation on a fast clock, in which all reservable resources are registered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import sqlalchemy as sa
from faults.client import Client, Said
from faults.gateway import Gateway
from faults.lessees import FLAVOR
from faults.notices import Notices
from faults.troubles import CLAIM_SECONDS, CLIENT_TIMEOUT_SECONDS

from bench.day.mailbox import Mailbox, open_mailbox
from bench.day.wishes import RACKS
from blazar.cloud.simulated.furnishing import PHYSICAL_NETWORK, STORAGE_POOLS
from blazar.db.engine import make_engine
from blazar.manager.clocks import FastClock, SystemClock
from cloudlab.blazar import PLUGINS
from cloudlab.files import Sections
from rig.cloud import CloudControl
from rig.installation import Installation, running
from rig.wanted import Database, Wanted

_VLANS: Final = "201-300"
_ADDRESSES: Final = range(100, 250)
_HANDS: Final = 6
_ATTEMPTS: Final = 10
DEFAULT_MAIL: Final = ("lease.started", "lease.ends_soon", "lease.ended", "lease.failed", "lease.degraded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The installation and the tools to work with it."""

    installation: Installation
    clock: FastClock
    engine: sa.Engine
    control: CloudControl
    notices: Notices
    mailbox: Mailbox
    network_id: str
    """The network of the floating IPs."""
    gateway: Gateway
    """The API."""


def options(speed: float, mail_port: int) -> Sections:
    """Return the configuration of the managers.

    The periods after which managers take over work and try again are real ones, multiplied by the speed.
    Intervals of periodic tasks are short enough for several of them in a short day.
    """
    seconds = round(speed)
    return {
        "DEFAULT": {"rpc_response_timeout": 10},
        "manager": {
            "plugins": ",".join(PLUGINS),
            "claim_seconds": CLAIM_SECONDS * seconds,
            "step_deadline_seconds": 300 * seconds,
            "clock_difference_limit_seconds": 2 * seconds,
            "poll_interval_seconds": 2 * seconds,
            "longest_retry_seconds": 4 * seconds,
            "release_wait_seconds": 60 * seconds,
            "sweep_interval_minutes": 20,
            "plan_check_interval_minutes": 20,
            "maintenance_check_interval_seconds": 300,
            "max_offers_per_project": 0,
        },
        # A refresh of all hosts takes a real minute on a busy machine.
        "physical:host": {
            "enable_polling_monitor": True,
            "polling_interval": 300,
            "refresh_interval_minutes": 360,
        },
        "usage_records": {"observation_interval_minutes": 20},
        "notices": {
            "channels": "mail",
            "mail_server": "127.0.0.1",
            "mail_port": mail_port,
            "mail_security": "none",
            "mail_sender": "Reservations <noreply@cloud.example.org>",
            "default_events": ",".join(DEFAULT_MAIL),
            "lead_minutes": "30",
            "max_undelivered": 0,
        },
        # Messages that have left the service survive the broker's restart.
        "oslo_messaging_rabbit": {"amqp_durable_queues": True},
        **{
            name: {"timeout": CLIENT_TIMEOUT_SECONDS}
            for name in ("nova", "placement", "neutron", "glance", "cinder")
        },
    }


@contextmanager
def open_site(
    database: Database, *, hosts: int, users: Sequence[str], managers: int, speed: float
) -> Iterator[Site]:
    """Yield a site with registered resources and a clock that runs fast; it is removed after the block."""
    with open_mailbox() as mailbox:
        wanted = Wanted(
            database=database, managers=managers, hosts=hosts, options=options(speed, mailbox.port)
        )
        with running(wanted) as installation, Notices(installation.transport_url) as notices:
            engine = make_engine(installation.database_url)
            try:
                with closing(CloudControl(installation.cloud_url)) as control:
                    network_id = str(control.state()["networks"][0]["id"])
                    gateway = Gateway(installation.urls)
                    _populate(gateway, control, network_id, hosts, users)
                    clock = FastClock(epoch=SystemClock().now(), speed=speed)
                    yield Site(
                        installation=installation.on_clock(clock),
                        clock=clock,
                        engine=engine,
                        control=control,
                        notices=notices,
                        mailbox=mailbox,
                        network_id=network_id,
                        gateway=gateway,
                    )
            finally:
                engine.dispose()


def _populate(
    gateway: Gateway, control: CloudControl, network_id: str, hosts: int, users: Sequence[str]
) -> None:
    """Register hosts in racks, addresses, segments and storage pools, and create the users and a flavor."""
    control.make_flavor(FLAVOR)
    for each in users:
        control.add_user(each, f"{each}@site.example.org")
    bodies: list[tuple[str, Mapping[str, object]]] = [
        ("/os-hosts", {"name": f"host-{number}", "rack": f"r{number % RACKS}"})
        for number in range(1, hosts + 1)
    ]
    bodies += [
        ("/floatingips", {"floating_network_id": network_id, "floating_ip_address": f"203.0.113.{number}"})
        for number in _ADDRESSES
    ]
    segments = {"network_type": "vlan", "physical_network": PHYSICAL_NETWORK, "segment_id": _VLANS}
    bodies.append(("/networks", segments))
    bodies += [("/storage-pools", {"name": name}) for name in STORAGE_POOLS]
    with ThreadPoolExecutor(_HANDS) as pool:
        # Each operator has a connection of its own.
        for done in [pool.submit(_register, gateway, bodies[number::_HANDS]) for number in range(_HANDS)]:
            done.result()


def _register(gateway: Gateway, bodies: Iterable[tuple[str, Mapping[str, object]]]) -> None:
    with closing(Client(gateway, "admin", "service")) as operator:
        for path, body in bodies:
            answers = [operator.ask("POST", path, body)]
            while answers[-1].said is Said.UNKNOWN and len(answers) < _ATTEMPTS:
                answers.append(operator.ask("POST", path, body))
            # The first request of several may have been carried out.
            expected = (HTTPStatus.CREATED, HTTPStatus.CONFLICT)[: len(answers)]
            assert answers[-1].status in expected, f"{body}: {answers[-1]}"
