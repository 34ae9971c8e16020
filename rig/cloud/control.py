"""The API at ``/control``, for operators and users of the cloud, and for measurements.

It needs no token. Its calls are not counted, have no added duration, and are not subject to fault rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from blazar.cloud.simulated import SimulatedCloud
from blazar.ports.compute import Flavor
from rig.cloud.faults import Fault
from rig.cloud.messages import Call, Handler, Reply, Route, Service
from rig.cloud.traffic import Traffic


def control_service(traffic: Traffic) -> Service:
    """Return the API that shows and sets the counters, the duration and the faults of calls."""

    def with_traffic(handler: Callable[[Traffic, Call], Reply]) -> Handler:
        return lambda cloud, call: handler(traffic, call)

    return Service(
        name="control",
        path="/control",
        error_body=lambda status, message: {"error": message},
        asks_for_token=False,
        routes=(
            Route("GET", "/traffic", with_traffic(_show_traffic)),
            Route("DELETE", "/traffic", with_traffic(_reset_traffic)),
            Route("PUT", "/latency", with_traffic(_set_latency)),
            Route("PUT", "/faults", with_traffic(_set_faults)),
            Route("GET", "/state", _show_state),
            Route("POST", "/flavors", _make_flavor),
            Route("POST", "/servers", _boot_server),
            Route("POST", "/users", _add_user),
            Route("POST", "/aggregates/{name}/hosts", _add_hosts),
            Route("PUT", "/hosts/{name}", _set_host_state),
        ),
    )


def _show_traffic(traffic: Traffic, call: Call) -> Reply:
    figures = traffic.figures
    return Reply(
        body={
            "latency_ms": traffic.latency_seconds * 1000,
            "calls": [{**asdict(kind), "count": count} for kind, count in sorted(figures.calls.items())],
            "peak_concurrency": figures.peak_concurrency,
            "faults": dict(figures.faults),
            "rules": [each.to_json() for each in traffic.faults],
        }
    )


def _reset_traffic(traffic: Traffic, call: Call) -> Reply:
    traffic.reset_figures()
    return Reply(status=204)


def _set_latency(traffic: Traffic, call: Call) -> Reply:
    latency_ms = float(call.body["latency_ms"])
    if latency_ms < 0:
        raise ValueError("latency_ms: must not be negative")
    traffic.latency_seconds = latency_ms / 1000
    return Reply(status=204)


def _set_faults(traffic: Traffic, call: Call) -> Reply:
    traffic.set_faults([Fault.from_json(each) for each in call.body["rules"]])
    return Reply(status=204)


def _show_state(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(body=json.loads(cloud.to_json()))


def _make_flavor(cloud: SimulatedCloud, call: Call) -> Reply:
    flavor = Flavor(**call.body)
    cloud.flavors.create_flavor(flavor)
    return Reply(status=201, body=asdict(flavor))


def _boot_server(cloud: SimulatedCloud, call: Call) -> Reply:
    body: Mapping[str, Any] = call.body
    return Reply(status=201, body=asdict(cloud.boot_server(**body)))


def _add_user(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(status=201, body=asdict(cloud.add_user(**call.body)))


def _add_hosts(cloud: SimulatedCloud, call: Call) -> Reply:
    (aggregate,) = cloud.aggregates.list_aggregates([call["name"]])
    for each in call.body["hosts"]:
        cloud.aggregates.add_host(aggregate.id, each)
    return Reply(status=204)


def _set_host_state(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(body=asdict(cloud.set_host_state(call["name"], **call.body)))
