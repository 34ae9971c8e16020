"""The whole embedded service in this process, on a manual clock, as its clients see it."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import falcon.testing
import sqlalchemy as sa
from app.default_policy import default_policy, empty_configuration
from app.due import next_minute
from clocks import EPOCH, ManualClock
from databases import empty_tables

with warnings.catch_warnings():
    # WebOb, a dependency of oslo.middleware and keystonemiddleware, imports the deprecated cgi module.
    warnings.simplefilter("ignore", DeprecationWarning)
    import webob  # type: ignore[import-untyped]  # noqa: F401

from blazar.api.app import make_app
from blazar.api.auth import noauth
from blazar.api.health import make_healthcheck
from blazar.api.policies import make_policy
from blazar.booking.context import Context
from blazar.cloud.simulated import SimulatedCloud
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.db.tables import metadata, refused_requests
from blazar.manager.build import build_context, make_indexes
from blazar.manager.plugins import load_plugins
from blazar.manager.service import ManagerService
from blazar.plugins.slots.names import provider_name
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.notices import NoticeSender
from blazar.reconcile.outbox import OutboxSender
from blazar.rpc.messages import local_manager
from blazar.settings import ApiSettings, LeaseSettings, RequestLimits, Settings
from blazar_plugin_testing.service_env import Silent

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

    from blazar.api.auth import Guard
    from blazar.ports.notices import Channels
    from blazar.ports.outbox import Notifier

PLUGINS = (
    "physical.host.plugin",
    "virtual.instance.plugin",
    "flavor.instance.plugin",
    "virtual.floatingip.plugin",
)
FREEPOOL = "freepool"
FREE = frozenset({"h1", "h2", "h3", "h4"})
"""The hosts of the fixture ``hosts``."""
NEWER = {"OpenStack-API-Version": "reservation 1.1"}
"""Headers of requests to API 1.1."""
_WRITING = ("create_", "delete_", "add_", "remove_", "set_", "put_")
_BUSY = 200
"""The number of passes at one instant after which a test fails, as the loop would not end."""

Json = dict[str, Any]
Answer = falcon.testing.Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """A caller of the API."""

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
    """Notifier that collects notifications."""

    def __init__(self) -> None:
        self.event_types: list[str] = []
        self.payloads: list[Mapping[str, object]] = []

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        self.event_types.append(event_type)
        self.payloads.append(payload)


@dataclass(slots=True)
class HttpEnv:
    """A service with its database and its cloud.

    Only requests have effects until :meth:`work` or :meth:`pass_time` is called.
    """

    engine: sa.Engine
    folder: Path
    settings: Settings = field(default_factory=lambda: quiet_settings())
    policy_file: Path | None = None
    """The operator's policy file; call :meth:`restart` after setting it."""
    plugins: tuple[str, ...] = PLUGINS
    guard: Guard = noauth
    """The authentication middleware of the API."""
    channels: Channels = field(default_factory=dict)
    """The channels by which notices are delivered."""
    clock: ManualClock = field(init=False)
    cloud: SimulatedCloud = field(init=False)
    app: WSGIApplication = field(init=False)
    context: Context = field(init=False)
    reconciler: Reconciler = field(init=False)
    sent: Sent = field(init=False)

    def __post_init__(self) -> None:
        empty_tables(self.engine)
        # Not on a full minute, where "now" would equal the current minute.
        self.clock = ManualClock(EPOCH + timedelta(seconds=20))
        self.cloud = SimulatedCloud(self.clock)
        self.cloud.add_aggregate(FREEPOOL)
        self.sent = Sent()
        plugins = load_plugins(self.plugins, self.settings)
        self.restart(build_context(self.engine, self.clock, self.cloud, self.settings, plugins, Silent()))

    def restart(self, context: Context) -> None:
        """Restart the service with another context, as after a change of its configuration."""
        self.context = context
        conf, policy = empty_configuration(), default_policy()
        if self.policy_file is not None:
            make_policy(conf)  # Registers the options.
            conf.set_override("policy_file", str(self.policy_file), group="oslo_policy")
            policy = make_policy(conf)
        self.app = make_app(
            local_manager(ManagerService(context)),
            self.settings.api,
            policy,
            guard=self.guard,
            healthcheck=make_healthcheck(conf),
        )
        sender = OutboxSender(context.store, self.clock, self.sent, context.filters)
        notices = NoticeSender(context, self.channels)
        self.reconciler = Reconciler(context, "manager", sender, threading.Event(), notices)

    def forget_indexes(self) -> None:
        """Continue as another manager would, which has read nothing from the database yet."""
        context = self.context
        indexes = make_indexes(context.store, self.clock, context.plugins, context.settings.region)
        self.restart(replace(context, indexes=indexes))

    def set_policy(self, rules: Mapping[str, str]) -> None:
        """Restart the service with these policy rules."""
        self.policy_file = self.folder / "policy.yaml"
        self.policy_file.write_text(json.dumps(rules))
        self.restart(self.context)

    # Requests of clients.

    def ask(
        self, method: str, path: str, *, who: Who | None = ADMIN, below: str = "/v1", **more: Any
    ) -> Answer:
        """Return the answer to a request.

        Args:
            method: The HTTP method.
            path: The path, without *below*.
            who: The caller; None to send no identity headers.
            below: The prefix of the path.
            **more: Further arguments of falcon's test client; ``json`` may be any value.
        """
        headers = {**(who.headers if who else {}), **more.pop("headers", {})}
        if "json" in more:
            # Encoded here because falcon cannot encode half of a surrogate pair.
            more["body"] = json.dumps(more.pop("json")).encode()
        return falcon.testing.TestClient(self.app).simulate_request(
            method, f"{below}{path}", headers=headers, **more
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
        """Add hypervisors to the cloud, register them as hosts, and return the hosts' IDs."""
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
        """Create a lease with one reservation and return it.

        Args:
            start: Minutes since the epoch of the tests, or ``now``.
            end: Minutes since the epoch of the tests.
            who: The lessee.
            asked: All keys of the reservation; by default, one host without conditions.
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
        """Change keys of a lease, or of its first reservation with ``reservation``, and return the lease."""
        if "reservation" in keys:
            keys["reservations"] = [{"id": lease["reservations"][0]["id"], **keys.pop("reservation")}]
        return lease_of(self.put(f"/leases/{lease['id']}", keys, who=who))

    def lease(self, lease_id: str) -> Json:
        return lease_of(self.get(f"/leases/{lease_id}"))

    def status(self, lease: Json) -> str:
        return str(self.lease(lease["id"])["status"])

    # Time.

    def date(self, minutes: float) -> str:
        """Return the date so many minutes after the epoch, as in requests."""
        return f"{EPOCH + timedelta(minutes=minutes):%Y-%m-%d %H:%M}"

    def shown(self, minutes: float) -> str:
        """Return the date so many minutes after the epoch, as in answers."""
        return (EPOCH + timedelta(minutes=minutes)).replace(tzinfo=None).isoformat(timespec="microseconds")

    def work(self) -> None:
        """Run the reconciler until nothing is due at the current time."""
        assert self.reconciler.run_due(_BUSY) < _BUSY, "busy without end"

    def pass_time(self, minutes: float) -> None:
        """Advance the clock to so many minutes after the epoch, and run what is due every minute."""
        end = EPOCH + timedelta(minutes=minutes)
        while self.clock.now() < end:
            self.work()
            self.clock.set(min(end, next_minute(self.engine, self.clock.now()) or end))
        self.work()

    # The cloud.

    @contextmanager
    def failing(self, operation: str, **rule: Any) -> Iterator[None]:
        """Let an operation of the cloud fail with a status, 503 by default."""
        self.cloud.faults.add(FaultRule(kind=FaultKind.STATUS, operation=operation, **rule))
        try:
            yield
        finally:
            self.cloud.faults.clear()

    def aggregates(self) -> dict[str, frozenset[str]]:
        """Return the hosts of each aggregate."""
        return {each.name: each.hosts for each in self.cloud.aggregates.list_aggregates()}

    def members(self, lease: Json) -> frozenset[str]:
        """Return the host names that are in the aggregate of a lease's first reservation."""
        return self.aggregates().get(lease["reservations"][0]["id"], frozenset())

    def has_provider(self, hostname: str) -> bool:
        """Return whether the host has a reservation provider in Placement."""
        return self.cloud.placement.find_provider(provider_name(hostname)) is not None

    def booked(self, lease: Json) -> set[str]:
        """Return the IDs of the hosts that are allocated to a lease."""
        found = good(self.get("/os-hosts/allocations", params={"lease_id": lease["id"]}))["allocations"]
        return {each["resource_id"] for each in found if each["reservations"]}

    # State for comparisons.

    def snapshot(self) -> tuple[object, ...]:
        """Return all rows except refused requests, the state of the cloud, and its number of writes."""
        with self.engine.connect() as connection:
            compared = [each for each in metadata.sorted_tables if each is not refused_requests]
            tables = {each.name: [*map(tuple, connection.execute(sa.select(each)))] for each in compared}
        calls = {
            name: count
            for name, count in self.cloud.calls.items()
            if name.partition(".")[2].startswith(_WRITING)
        }
        return tables, self.cloud.to_json(), calls


def quiet_settings(*, cleaning_minutes: int = 0, randomize_selection: bool = False) -> Settings:
    """Return settings under which no request waits for :meth:`HttpEnv.work`."""
    return Settings(
        leases=LeaseSettings(
            delete_wait=timedelta(0),
            update_wait=timedelta(0),
            # Tests of shortages ask for more than any limit would allow.
            limits=RequestLimits(amount=0),
            cleaning_time=timedelta(minutes=cleaning_minutes),
            randomize_selection=randomize_selection,
        ),
        api=ApiSettings(auth_strategy="noauth"),
    )


def host_reservation(**keys: Any) -> Json:
    """Return the reservation of a request: one host without conditions, unless *keys* override it."""
    return {
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "hypervisor_properties": "",
        "resource_properties": "",
        **keys,
    }


def good(answer: Answer, status: int = 200) -> Json:
    """Return the JSON of an answer, after checking its status."""
    assert answer.status_code == status, answer.text
    found: Json = answer.json
    return found


def events_of(lease: Json) -> dict[str, tuple[str, str]]:
    """Return the time and status of each event of a lease."""
    return {each["event_type"]: (each["time"], each["status"]) for each in lease["events"]}


def lease_of(answer: Answer, status: int = 200) -> Json:
    """Return the lease of an answer, after checking its status."""
    lease: Json = good(answer, status)["lease"]
    return lease


def refusal(answer: Answer, status: int) -> str:
    """Return the message of a refusal in shape A."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    explained = {"reasons", "alternatives"}  # of leases and changes that API 1.1 refuses
    assert answer.json.keys() - explained == {"error_code", "error_message", "error_name"}
    assert answer.json["error_code"] == answer.json["error_name"] == status
    return str(answer.json["error_message"])


def shortage(answer: Answer) -> str:
    """Return the message of a refusal for lack of resources."""
    message = refusal(answer, 400)
    assert message.startswith("Not enough "), message
    return message


def refusal_b(answer: Answer, status: int) -> str:
    """Return the message of a refusal in shape B."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json.keys() == {"error", "error_message"}
    assert answer.json["error"] == status
    return str(answer.json["error_message"])


if TYPE_CHECKING:
    _: Notifier = Sent()
