"""The minimum work, measured on the same broker, database and uWSGI as the service."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from oslo_config.cfg import CONF

from bench.filling import bare_commit, fill_hosts
from bench.service.client import Client
from bench.service.echo import TOPIC
from blazar import config
from blazar.db.engine import make_engine
from blazar.db.schema import upgrade
from blazar.rpc.bus import get_transport, make_client
from cloudlab import blazar, probes
from cloudlab.commands import plain_environment
from cloudlab.folder import REPOSITORY
from cloudlab.service import Service
from cloudlab.wsgi import in_module, wsgi_service
from rig.installation import Installation

_DATABASE: Final = "floor"
_SAMPLES: Final = 25
_WARM_UP: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Medians of one run, in milliseconds."""

    echo: float
    """A call over the broker, without content, to a process that does nothing."""
    commit: float
    """A commit of the rows that a create writes."""
    wsgi: float
    """A response of an application that does nothing."""

    @property
    def write(self) -> float:
        """Return the minimum duration of a request that stores something, as defined in the design."""
        return self.echo + self.commit


class Floors:
    """Sampler of the floors."""

    def __init__(self, client: Any, engine: sa.Engine, web: Client) -> None:
        self._acts: tuple[Callable[[], object], ...] = (
            lambda: client.call({}, "ping"),
            lambda: bare_commit(engine),
            lambda: web.ask("POST", "/", {"lease": "x" * 400}),
        )

    def measure(self, samples: int = _SAMPLES) -> Floor:
        """Return the medians of this number of samples of each floor."""
        echo, commit, wsgi = (_median(act, samples) for act in self._acts)
        return Floor(echo=echo, commit=commit, wsgi=wsgi)


@contextmanager
def floors_of(installation: Installation) -> Iterator[Floors]:
    """Yield a sampler for the floors of an installation; its processes end with the block."""
    services = (_echo(installation), _web(installation))
    engine = make_engine(installation.make_database(_DATABASE))
    upgrade(engine)
    fill_hosts(engine, 1)
    try:
        for service in services:
            service.start()
        for service in services:
            service.wait_until_answers()
        web = Client(url=installation.plan.url("floor"), headers={})
        floors = Floors(_echo_client(installation), engine, web)
        floors.measure(_WARM_UP)
        yield floors
    finally:
        for service in services:
            service.kill()
        engine.dispose()


def _median(act: Callable[[], object], samples: int) -> float:
    times = []
    for _ in range(samples):
        began = time.perf_counter()
        act()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def _echo(installation: Installation) -> Service:
    return Service(
        name="floor-echo",
        folder=installation.plan.folder,
        command=(sys.executable, "-m", "bench.service.echo", "--config-file", str(_conf(installation))),
        environment=plain_environment(PYTHONPATH=str(REPOSITORY)),
        check=lambda since: probes.consumers(installation.plan, TOPIC) > 0,
    )


def _web(installation: Installation) -> Service:
    return wsgi_service(
        installation.plan,
        "floor",
        in_module("bench.service.bare"),
        {"PYTHONPATH": str(REPOSITORY)},
        uwsgi=(blazar.program("uwsgi"),),
        workers=installation.wanted.api,
    )


def _echo_client(installation: Installation) -> Any:
    conf = config.make_conf(["--config-file", str(_conf(installation))], "bench", conf=CONF)
    return make_client(get_transport(conf), TOPIC)


def _conf(installation: Installation) -> object:
    return installation.plan.folder.etc("blazar") / "blazar.conf"
