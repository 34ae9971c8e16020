"""The whole embedded service in this process, on a clock that stands still, as its clients see it."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import falcon.testing
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import empty_tables
from oslo_config import cfg

with warnings.catch_warnings():
    # WebOb, below oslo.middleware and keystonemiddleware, imports the deprecated cgi module.
    warnings.simplefilter("ignore", DeprecationWarning)
    import webob  # type: ignore[import-untyped]  # noqa: F401

from blazar.api.app import make_app
from blazar.api.auth import make_guard
from blazar.api.health import make_healthcheck
from blazar.api.policies import make_policy
from blazar.booking.context import Context
from blazar.cloud.simulated import SimulatedCloud
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.db.tables import metadata
from blazar.manager.build import build_context
from blazar.manager.plugins import load_plugins
from blazar.manager.service import ManagerService
from blazar.plugins.slots.names import provider_name
from blazar.plugins.testing.site import Silent
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.rpc.local import local_manager
from blazar.settings import ApiSettings, HostSettings, LeaseSettings, Settings

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    from blazar.ports.notifier import Notifier

PLUGINS = (
    "physical.host.plugin",
    "virtual.instance.plugin",
    "flavor.instance.plugin",
    "virtual.floatingip.plugin",
)
FREEPOOL = "freepool"
FREE = frozenset({"h1", "h2", "h3", "h4"})
"""The hosts of the fixture ``hosts``."""
_WRITING = ("create_", "delete_", "add_", "remove_", "set_", "put_")
_BUSY = 200
"""More passes than this at one instant are a loop without end."""

Json = dict[str, Any]
Answer = falcon.testing.Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Somebody who asks."""

    user: str = "user"
    project: str | None = "project"
    roles: str = "member,reader"

    @property
    def headers(self) -> dict[str, str]:
        return {"X-User-Id": self.user, "X-Project-Id": self.project or "", "X-Roles": self.roles}


ADMIN = Who(user="operator", project="operators", roles="admin,member,reader")
LESSEE = Who()
READER = Who(user="auditor", roles="reader")
STRANGER = Who(user="stranger", project="elsewhere")


class Sent:
    """Collects notifications."""

    def __init__(self) -> None:
        self.event_types: list[str] = []
        self.payloads: list[Mapping[str, object]] = []

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        self.event_types.append(event_type)
        self.payloads.append(payload)


@dataclass(slots=True)
class World:
    """A service with its database and its cloud.

    Nothing happens but what a request does, until :meth:`work` or :meth:`pass_time` is called.
    """

    engine: sa.Engine
    folder: Path
    settings: Settings = field(default_factory=lambda: quiet_settings())
    clock: ManualClock = field(init=False)
    cloud: SimulatedCloud = field(init=False)
    app: WSGIApplication = field(init=False)
    context: Context = field(init=False)
    reconciler: Reconciler = field(init=False)
    sent: Sent = field(init=False)

    def __post_init__(self) -> None:
        empty_tables(self.engine)
        self._cloud_file.unlink(missing_ok=True)
        # Not on the full minute, where "now" and the current minute are the same.
        self.clock = ManualClock(EPOCH + timedelta(seconds=20))
        self.cloud = SimulatedCloud(self.clock, state_file=self._cloud_file)
        self.cloud.add_aggregate(FREEPOOL)
        self.sent = Sent()
        plugins = load_plugins(PLUGINS, self.settings)
        self.restart(build_context(self.engine, self.clock, self.cloud, self.settings, plugins, Silent()))

    def restart(self, context: Context) -> None:
        """Have the service go on with another context, as after a change of its configuration."""
        self.context = context
        conf = cfg.ConfigOpts()
        conf([], project="blazar", default_config_files=[], default_config_dirs=[])
        self.app = make_app(
            local_manager(ManagerService(context)),
            self.settings.api,
            make_policy(conf),
            guard=make_guard(self.settings.api, conf),
            healthcheck=make_healthcheck(conf),
        )
        sender = OutboxSender(context.store, self.clock, self.sent, context.filters)
        self.reconciler = Reconciler(context, "manager", sender, threading.Event())

    @property
    def _cloud_file(self) -> Path:
        return self.folder / "cloud.json"

    # What clients do.

    def ask(self, method: str, path: str, *, who: Who = ADMIN, **more: Any) -> Answer:
        """Return the answer to a request; *more* is what falcon's test client takes."""
        headers = {**who.headers, **more.pop("headers", {})}
        if "json" in more:
            # Not by falcon, which cannot write half a surrogate pair.
            more["body"] = json.dumps(more.pop("json")).encode()
        return falcon.testing.TestClient(self.app).simulate_request(
            method, f"/v1{path}", headers=headers, **more
        )

    def get(self, path: str, **more: Any) -> Answer:
        return self.ask("GET", path, **more)

    def post(self, path: str, body: object, **more: Any) -> Answer:
        return self.ask("POST", path, json=body, **more)

    def put(self, path: str, body: object, **more: Any) -> Answer:
        return self.ask("PUT", path, json=body, **more)

    def patch(self, path: str, body: object, **more: Any) -> Answer:
        return self.ask("PATCH", path, json=body, **more)

    def delete(self, path: str, **more: Any) -> Answer:
        return self.ask("DELETE", path, **more)

    def register(self, *names: str, **capabilities: object) -> list[str]:
        """Bring hypervisors into the cloud, register them, and return their ids."""
        ids = []
        for name in names:
            self.cloud.add_hypervisor(name)
            ids.append(good(self.post("/os-hosts", {"name": name, **capabilities}), 201)["host"]["id"])
        return ids

    def create(
        self,
        start: float | str = "now",
        end: float = 60,
        *,
        who: Who = LESSEE,
        asked: Json | None = None,
        **keys: Any,
    ) -> Json:
        """Return a new lease of one reservation.

        Args:
            start: In minutes since the beginning, or ``now``.
            end: In minutes since the beginning.
            who: Whose it is.
            asked: All keys of the reservation; by default it is for one host of any kind.
            **keys: Further keys of the reservation.
        """
        return lease_of(self.post("/leases", self.wish(start, end, asked=asked, **keys), who=who), 201)

    def wish(
        self, start: float | str = "now", end: float = 60, *, asked: Json | None = None, **keys: Any
    ) -> Json:
        """Return the body of a request for a lease; see :meth:`create`."""
        return {
            "name": "night",
            "start_date": start if isinstance(start, str) else self.date(start),
            "end_date": self.date(end),
            "reservations": [{**(asked or host_reservation()), **keys}],
        }

    def change(self, lease: Json, *, who: Who = LESSEE, **keys: Any) -> Json:
        """Return the lease after a change; keys of the lease, or ``reservation`` for its first one."""
        if "reservation" in keys:
            keys["reservations"] = [{"id": lease["reservations"][0]["id"], **keys.pop("reservation")}]
        return lease_of(self.put(f"/leases/{lease['id']}", keys, who=who))

    def lease(self, lease_id: str) -> Json:
        return lease_of(self.get(f"/leases/{lease_id}"))

    def status(self, lease: Json) -> str:
        return str(self.lease(lease["id"])["status"])

    # Time.

    def date(self, minutes: float) -> str:
        """Return a date as requests write it, in minutes since the beginning."""
        return f"{EPOCH + timedelta(minutes=minutes):%Y-%m-%d %H:%M}"

    def shown(self, minutes: float) -> str:
        """Return a date as answers write it."""
        return (EPOCH + timedelta(minutes=minutes)).replace(tzinfo=None).isoformat(timespec="microseconds")

    def work(self) -> None:
        """Do what is due now."""
        assert self.reconciler.run_due(_BUSY) < _BUSY, "busy without end"

    def pass_time(self, minutes: float) -> None:
        """Let time pass up to so many minutes since the beginning; every minute what is due is done."""
        end = EPOCH + timedelta(minutes=minutes)
        while self.clock.now() < end:
            self.work()
            self.clock.set(min(end, _next_minute(self.clock.now())))
        self.work()

    # The cloud.

    @contextmanager
    def failing(self, operation: str, **rule: Any) -> Iterator[None]:
        """Let an operation fail with a status, 503 by default."""
        self.cloud.faults.add(FaultRule(kind=FaultKind.STATUS, operation=operation, **rule))
        try:
            yield
        finally:
            self.cloud.faults.clear()

    def aggregates(self) -> dict[str, frozenset[str]]:
        """Return the hosts of each aggregate."""
        return {each.name: each.hosts for each in self.cloud.compute.list_aggregates()}

    def members(self, lease: Json) -> frozenset[str]:
        """Return the hosts that are handed over to the first reservation of a lease."""
        return self.aggregates().get(lease["reservations"][0]["id"], frozenset())

    def has_provider(self, hostname: str) -> bool:
        """Return whether the host has a reservation provider."""
        return self.cloud.placement.find_provider(provider_name(hostname)) is not None

    def booked(self, lease: Json) -> set[str]:
        """Return the ids of the hosts that are promised to a lease."""
        found = good(self.get("/os-hosts/allocations", params={"lease_id": lease["id"]}))["allocations"]
        return {each["resource_id"] for each in found if each["reservations"]}

    # Whether anything has happened.

    def snapshot(self) -> tuple[object, ...]:
        """Return everything that is stored, here and in the cloud, and how often the cloud was written."""
        with self.engine.connect() as connection:
            tables = {
                table.name: [tuple(row) for row in connection.execute(sa.select(table))]
                for table in metadata.sorted_tables
            }
        calls = {
            name: count
            for name, count in self.cloud.calls.items()
            if name.partition(".")[2].startswith(_WRITING)
        }
        return tables, self._cloud_file.read_text(), calls


def quiet_settings(*, cleaning_minutes: int = 0, randomize_selection: bool = False) -> Settings:
    """Return settings under which a DELETE does not wait for what only :meth:`World.work` does."""
    return Settings(
        leases=LeaseSettings(delete_wait=timedelta(0), cleaning_time=timedelta(minutes=cleaning_minutes)),
        hosts=HostSettings(randomize_selection=randomize_selection),
        api=ApiSettings(auth_strategy="noauth"),
    )


def host_reservation(**keys: Any) -> Json:
    """Return the reservation of a request, for one host of any kind unless *keys* says otherwise."""
    return {
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "hypervisor_properties": "",
        "resource_properties": "",
        **keys,
    }


def good(answer: Answer, status: int = 200) -> Json:
    """Return the JSON of an answer that is as it should be."""
    assert answer.status_code == status, answer.text
    found: Json = answer.json
    return found


def events_of(lease: Json) -> dict[str, tuple[str, str]]:
    """Return time and status of each event of a lease."""
    return {each["event_type"]: (each["time"], each["status"]) for each in lease["events"]}


def lease_of(answer: Answer, status: int = 200) -> Json:
    """Return the lease of an answer that is as it should be."""
    lease: Json = good(answer, status)["lease"]
    return lease


def refusal(answer: Answer, status: int) -> str:
    """Return the message of a refusal in shape A."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json.keys() == {"error_code", "error_message", "error_name"}
    assert answer.json["error_code"] == answer.json["error_name"] == status
    return str(answer.json["error_message"])


def refusal_b(answer: Answer, status: int) -> str:
    """Return the message of a refusal in shape B."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json.keys() == {"error", "error_message"}
    assert answer.json["error"] == status
    return str(answer.json["error_message"])


def _next_minute(now: datetime) -> datetime:
    return now.replace(second=0, microsecond=0) + timedelta(minutes=1)


if TYPE_CHECKING:
    _: Notifier = Sent()
