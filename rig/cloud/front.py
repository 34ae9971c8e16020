"""Handling of a request: caller, route, duration and injected faults."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any

from blazar.cloud.simulated import Moment, SimulatedCloud
from blazar.domain.errors import CloudConflict, CloudError, CloudNotFound, CloudRefused
from rig.cloud.block_storage import CINDER
from rig.cloud.compute import GLANCE, NOVA
from rig.cloud.control import control_service
from rig.cloud.faults import Fault, FaultKind
from rig.cloud.identity import KEYSTONE, caller_of
from rig.cloud.messages import Call, Caller, Reply, Route, RouteTable, Service
from rig.cloud.networks import NEUTRON
from rig.cloud.placement import PLACEMENT
from rig.cloud.traffic import Kind, Traffic

_STATUSES: Mapping[type[CloudError], int] = {CloudNotFound: 404, CloudConflict: 409, CloudRefused: 400}
_NOBODY = Caller(user_id="", project_id=None, is_admin=False)
_ELSEWHERE = Route("*", "(unknown)", lambda cloud, call: Reply(status=404))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A received HTTP request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Message[str, str]
    body: Any


class Front:
    """All APIs of one cloud; thread-safe."""

    def __init__(self, cloud: SimulatedCloud, traffic: Traffic, closing: threading.Event) -> None:
        """Create the APIs.

        Args:
            cloud: The cloud that executes the calls.
            traffic: Counts the calls, and determines their duration and faults.
            closing: Set on shutdown, when clients no longer wait for responses.
        """
        self._cloud = cloud
        self._traffic = traffic
        self._closing = closing
        self._control = control_service(traffic)
        self._table = RouteTable((KEYSTONE, NOVA, PLACEMENT, NEUTRON, GLANCE, CINDER, self._control))

    def answer(self, request: Request, base_url: str) -> Reply | None:
        """Return the response, or None if the connection must be cut instead."""
        service = self._table.service_at(request.path)
        if service is None:
            return Reply(status=404, body={"error": f"no service is at {request.path}"})
        route, names = self._table.find(service, request.method, request.path) or (_ELSEWHERE, {})
        caller = caller_of(request.headers.get("X-Auth-Token")) or _NOBODY
        call = Call(
            caller=caller,
            names=names,
            query=request.query,
            headers=request.headers,
            body=request.body,
            base_url=base_url,
        )
        if service is self._control:
            return self._do(service, route, call)
        with self._traffic.passing(Kind(service.name, request.method, route.template)) as fault:
            self._wait(self._traffic.latency_seconds)
            if fault is None:
                return self._do(service, route, call)
            return self._fail(fault, service, route, call)

    def _fail(self, fault: Fault, service: Service, route: Route, call: Call) -> Reply | None:
        match fault.kind:
            case FaultKind.STATUS:
                return _error(service, fault.status, "failed by a rule")
            case FaultKind.CUT:
                return None
            case FaultKind.LOSE_REPLY:
                self._do(service, route, call)
                return None
            case FaultKind.LATE:
                self._wait(fault.delay_at(Moment.BEFORE))
                reply = self._do(service, route, call)
                self._wait(fault.delay_at(Moment.AFTER))
                return reply

    def _do(self, service: Service, route: Route, call: Call) -> Reply:
        if route is _ELSEWHERE:
            return _error(service, 404, "The resource could not be found.")
        if service.asks_for_token and call.caller is _NOBODY:
            return _error(service, 401, "The request you have made requires authentication.")
        if service.asks_for_token and not (route.is_open or call.caller.is_admin):
            return _error(service, 403, "Policy does not allow this to be done.")
        try:
            return route.handler(self._cloud, call)
        except CloudError as error:
            return _error(service, _STATUSES.get(type(error), 503), str(error))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # Usually an invalid body or query; the traceback shows other causes.
            return _error(service, 400, "".join(traceback.format_exception(error)))

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self._closing.wait(seconds)


def _error(service: Service, status: int, message: str) -> Reply:
    return Reply(status=status, body=service.error_body(status, message))
