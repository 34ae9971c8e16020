"""Lessees and operators: their requests, the times of these, and the managers that receive them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from reconcile.floatingips import TYPE as FLOATINGIP
from reconcile.floatingips import address
from reconcile.parts import hosts, lease_body
from reconcile.slots import instances, of_flavor

from blazar.cloud.simulated.faults import SimulatedCrash
from blazar.domain.errors import BlazarError, CloudDisagrees, CloudError, ConcurrentUpdate, Unavailable
from blazar.plugins.hosts.monitor import notice_change
from blazar_plugin_testing.service_env import LESSEE

if TYPE_CHECKING:
    from simulation.processes import Process
    from simulation.simulation_env import SimulationEnv

_MINUTE = timedelta(minutes=1)
_LEASES = "SELECT id, name FROM leases ORDER BY created_at, id"
_RESERVATIONS = "SELECT id, resource_type, status FROM reservations WHERE lease_id = '{}' ORDER BY id"
_NO_ANSWER = (Unavailable, ConcurrentUpdate, CloudError, CloudDisagrees)
"""Errors after which the outcome of a request is unknown."""
Request = Callable[["Process"], object]
Kind = Callable[[], Mapping[str, object]]
"""Draws a reservation."""


class People:
    """All lessees and operators."""

    def __init__(self, env: SimulationEnv) -> None:
        self._env = env
        self._chance = env.chance
        self._names = 0
        self._acts: list[tuple[int, Callable[[], None]]] = [
            (6, self._create),
            (2, self._rush),
            (5, self._change),
            (2, self._delete),
            (2, self._boot),
            (2, self._break_or_mend),
            (1, self._add_or_remove_host),
            (1, self._describe_host),
        ]

    def come(self) -> None:
        """Schedule all requests, each at a random time."""
        env, plan = self._env, self._env.plan
        for number in range(1, plan.requests + 1):
            at = env.clock.now() + plan.horizon * self._chance.random()
            env.scheduler.spawn(f"person {number}", self._act, at)

    def _act(self) -> None:
        weights = [weight for weight, _ in self._acts]
        (act,) = self._chance.choices([act for _, act in self._acts], weights)
        act()

    # Lessees.

    def _create(self) -> None:
        start = self._chance.choice([None, None, self._chance.randint(1, 40)])
        self._ask_for(start, (start or 0) + self._chance.randint(2, 40))

    def _rush(self) -> None:
        """Send several requests for the same resources at once, to different managers."""
        env = self._env
        start = self._chance.randint(1, 20)
        kind = self._chance.choice(self._kinds())
        for number in range(self._chance.randint(2, 4)):
            env.scheduler.spawn(
                f"{env.scheduler.current.name}.{number}",
                lambda: self._ask_for(start, start + self._chance.randint(5, 20), kind),
                env.clock.now(),
            )

    def _ask_for(
        self, start: int | None, end: int, kind: Callable[[], Mapping[str, object]] | None = None
    ) -> None:
        self._names += 1
        name = f"lease {self._names}"
        asked = [(kind or self._chance.choice(self._kinds()))()]
        if self._chance.random() < 0.2:
            asked.append(self._chance.choice(self._kinds())())
        first = "now" if start is None else self._date(start)
        body = lease_body(name, first, self._date(end), *asked)
        self._request(
            f"create {name}", lambda process: process.service.create_lease(LESSEE, body), attempts=3
        )

    def _kinds(self) -> list[Kind]:
        kinds = [self._some_hosts, self._some_hosts, self._some_instances, self._some_of_a_flavor]
        return kinds + [self._some_addresses] * bool(self._env.conditions.floatingips)

    def _some_hosts(self) -> Mapping[str, object]:
        low = self._chance.choice([1, 1, 2])
        return {
            **hosts(low, self._chance.randint(low, 3)),
            "before_end": self._chance.choice(["", "snapshot"]),
        }

    def _some_instances(self) -> Mapping[str, object]:
        return instances(self._chance.randint(1, 5), self._chance.choice([None, True, False]))

    def _some_of_a_flavor(self) -> Mapping[str, object]:
        return of_flavor(self._chance.randint(1, 8), self._chance.choice([None, None, True, False]))

    def _some_addresses(self) -> Mapping[str, object]:
        count = self._env.conditions.floatingips
        required = [address(self._chance.randint(1, count))] if self._chance.random() < 0.3 else []
        ((network_id,), *_) = self._env.database.look("SELECT network_id FROM floatingips")
        return {
            "resource_type": FLOATINGIP,
            "network_id": network_id,
            "amount": self._chance.randint(1, count),
            "required_floatingips": required,
        }

    def _change(self) -> None:
        lease_id = self._some_lease()
        if lease_id is None:
            return
        body = self._chance.choice([self._new_dates, self._new_dates, self._new_needs])(lease_id)
        self._request(
            f"change {lease_id[:8]}: {json.dumps(body)}",
            lambda process: process.service.update_lease(LESSEE, lease_id, body),
        )

    def _new_dates(self, lease_id: str) -> dict[str, Any]:
        start = self._chance.randint(0, 20)
        match self._chance.randrange(4):
            case 0:
                return {"end_date": "now"}
            case 1:
                return {
                    "start_date": self._date(start),
                    "end_date": self._date(start + self._chance.randint(1, 30)),
                }
            case 2:
                return {"name": f"renamed {start}"}
        return {"end_date": self._date(self._chance.randint(1, 50))}

    def _new_needs(self, lease_id: str) -> dict[str, Any]:
        reservations = self._env.database.look(_RESERVATIONS.format(lease_id))
        if not reservations:
            return {"end_date": "now"}
        reservation_id, resource_type, _ = self._chance.choice(reservations)
        wanted: dict[str, object] = {"id": reservation_id}
        if resource_type == "physical:host":
            low = self._chance.choice([1, 1, 2])
            wanted |= {"min": low, "max": self._chance.randint(low, 3)}
        else:
            wanted |= {"amount": self._chance.randint(1, 5)}
        if resource_type not in ("physical:host", FLOATINGIP) and self._chance.random() < 0.3:
            wanted |= {"affinity": self._chance.choice([None, True, False])}
        return {"reservations": [wanted]}

    def _delete(self) -> None:
        lease_id = self._some_lease()
        if lease_id is not None:
            self._request(
                f"delete {lease_id[:8]}",
                lambda process: process.service.delete_lease(LESSEE, lease_id),
                attempts=3,
            )

    def _boot(self) -> None:
        """Try to boot servers in a reservation."""
        lease_id = self._some_lease()
        if lease_id is None:
            return
        for reservation_id, resource_type, _ in self._env.database.look(_RESERVATIONS.format(lease_id)):
            is_host = resource_type == "physical:host"
            where = {"reservation_id": reservation_id} if is_host else {"flavor_id": reservation_id}
            try:
                server = self._env.cloud.boot_server("server", "project", **where)
            except CloudError as error:
                self._env.note(f"no server: {error}")
            else:
                self._env.note(f"boots server on {server.service_host} for {reservation_id[:8]}")

    def _some_lease(self) -> str | None:
        leases = self._env.database.look(_LEASES)
        return self._chance.choice(leases)[0] if leases else None

    # Operators.

    def _break_or_mend(self) -> None:
        name = self._chance.choice(self._env.host_names)
        is_up, is_enabled = self._chance.choice([(False, True), (True, False), (True, True)])
        self._env.cloud.set_host_state(name, is_up=is_up, is_enabled=is_enabled)
        self._env.note(f"{name} is up: {is_up}, enabled: {is_enabled}")
        self._request(f"nova says something of {name}", lambda process: notice_change(process.context, name))

    def _add_or_remove_host(self) -> None:
        found = sorted(set(self._env.host_names) - set(self._env.plan.steady_hosts))
        if not found:
            return
        name = self._chance.choice(found)
        registered = dict(self._env.database.look("SELECT service_name, id FROM hosts"))
        if name in registered:
            host_id = registered[name]
            self._insist(f"remove {name}", lambda process: process.service.delete_host(LESSEE, host_id))
        else:
            self._insist(f"add {name}", lambda process: process.service.create_host(LESSEE, {"name": name}))

    def _describe_host(self) -> None:
        ((host_id,), *_) = self._env.database.look("SELECT id FROM hosts ORDER BY id")
        body = {"rack": str(self._chance.randint(1, 3))}
        self._request("describe a host", lambda process: process.service.update_host(LESSEE, host_id, body))

    def _insist(self, what: str, request: Request) -> None:
        """Repeat a request until it is answered; repeating it completes a request that was interrupted."""
        self._request(what, request, attempts=1000)

    # Helpers.

    def _request(self, what: str, request: Request, *, attempts: int = 1) -> None:
        """Send a request to a random manager, and repeat it if there is no answer."""
        env = self._env
        for _ in range(attempts):
            process = env.crew.some()
            env.note(f"asks {process.name}: {what}")
            try:
                with env.crew.inside(process):
                    request(process)
                    # The answer may still be lost.
                    env.step("answers")
            except (SimulatedCrash, *_NO_ANSWER) as error:
                env.note(f"gets no answer: {error}")
                env.scheduler.pause(env.seconds(0, 60))
            except BlazarError as error:
                env.note(f"is refused: {type(error).__name__} {error}")
                return
            else:
                env.note("gets what was asked for")
                return

    def _date(self, minutes: int) -> str:
        return f"{self._minute(minutes):%Y-%m-%d %H:%M}"

    def _minute(self, minutes: int) -> datetime:
        return self._env.clock.now().replace(second=0, microsecond=0) + minutes * _MINUTE
