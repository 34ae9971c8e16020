"""Steps between requests: time passes, the manager works, the cloud changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from app.floatingips import GATEWAY, POOLS, address
from app.http_env import HttpEnv
from recorded.names import Names
from recorded.story import Step, date

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.enforcement.duration import MaxLeaseDuration
from blazar.ports.compute import Flavor


def time_passes(hours: float) -> Step:
    """Let time pass until an hour of the day; the manager runs every minute."""
    return Step(f"time passes to {date(hours)}", lambda env, names: env.pass_time(hours * 60))


def seconds_pass(seconds: int) -> Step:
    """Let time pass while the manager does not run."""

    def act(env: HttpEnv, names: Names) -> None:
        env.clock.advance(timedelta(seconds=seconds))

    return Step(f"{seconds} seconds pass", act)


WORK = Step("the manager does what is due", lambda env, names: env.work())


def hypervisors(*hostnames: str, zone: str | None = None) -> Step:
    """Add hypervisors to the cloud without registering them as hosts."""

    def act(env: HttpEnv, names: Names) -> None:
        for each in hostnames:
            env.cloud.add_hypervisor(each, availability_zone=zone)

    where = f" in zone {zone}" if zone else ""
    return Step(f"the cloud has hypervisors {', '.join(hostnames)}{where}", act)


def hosts(**capabilities: Mapping[str, object]) -> Step:
    """Add hypervisors to the cloud and register them as hosts.

    Args:
        **capabilities: By host name.
    """

    def act(env: HttpEnv, names: Names) -> None:
        for each in capabilities:
            env.cloud.add_hypervisor(each)
        for each, extra in capabilities.items():
            assert env.post("/os-hosts", {"name": each, **extra}).status_code == 201
            env.clock.advance(timedelta(milliseconds=1))

    return Step(f"an operator registers hosts {json.dumps(capabilities)}", act)


RACKS = hosts(
    h1={"rack": "r1", "gpu": "a100"}, h2={"rack": "r1"}, h3={"rack": "r2", "slots": 8}, h4={"rack": "r2"}
)
"""Four hosts, two in each rack."""


def removed_hypervisor(hostname: str) -> Step:
    """Remove a hypervisor from the cloud."""

    def act(env: HttpEnv, names: Names) -> None:
        env.cloud.remove_hypervisor(hostname)

    return Step(f"hypervisor {hostname} is removed from the cloud", act)


def flavors(*made: Flavor) -> Step:
    """Add flavors to the cloud."""

    def act(env: HttpEnv, names: Names) -> None:
        for each in made:
            env.cloud.flavors.create_flavor(each)

    return Step(f"the cloud has flavors {', '.join(each.id for each in made)}", act)


def server(hostname: str, *, reservation: int | None = None, project: str = "project") -> Step:
    """Boot a server on a host, with a scheduler hint for ``<reservation-…>`` if one is given."""
    name = f"<reservation-{reservation}>"

    def act(env: HttpEnv, names: Names) -> None:
        booked = None if reservation is None else names.reveal_text(name)
        env.cloud.boot_server("web", project, service_host=hostname, reservation_id=booked)

    return Step(f"a server runs on {hostname}" + (f" in {name}" if reservation else ""), act)


def instance(reservation: int) -> Step:
    """Boot a server with the flavor of ``<reservation-…>`` on the host that the scheduler chooses."""
    name = f"<reservation-{reservation}>"

    def act(env: HttpEnv, names: Names) -> None:
        env.cloud.boot_server("web", "project", flavor_id=names.reveal_text(name))

    return Step(f"a server runs with flavor {name}", act)


def _add_network(env: HttpEnv, names: Names) -> None:
    for name, is_external in (("public", True), ("private", False)):
        network = env.cloud.add_network(name, is_external=is_external)
        names.learn("network", network.id)
        cidr, pools = ("203.0.113.0/24", POOLS) if is_external else ("10.0.0.0/24", ())
        gateway = GATEWAY if is_external else "10.0.0.1"
        env.cloud.add_subnet(network.id, cidr, gateway_ip=gateway, allocation_pools=pools)


NETWORKS = Step(
    "the cloud has an external network <network-1> and an internal network <network-2>", _add_network
)


def addresses(*numbers: int) -> Step:
    """Register addresses of ``<network-1>`` as floating IPs."""

    def act(env: HttpEnv, names: Names) -> None:
        for each in numbers:
            body = {
                "floating_network_id": names.reveal_text("<network-1>"),
                "floating_ip_address": address(each),
            }
            answer = env.post("/floatingips", body)
            names.learn("floatingip", answer.json["floatingip"]["id"])
            env.clock.advance(timedelta(milliseconds=1))

    return Step(f"an operator registers {', '.join(address(each) for each in numbers)}", act)


def _add_physical_network(env: HttpEnv, names: Names) -> None:
    env.cloud.add_physical_network("physnet1")
    env.cloud.add_segment_range("vlan", "physnet1", 100, 110)


PHYSICAL_NETWORK = Step("the cloud has a physical network, physnet1", _add_physical_network)


def failing(operation: str, **rule: Any) -> Step:
    """Make an operation of the cloud fail, by default with status 503, until :data:`MENDED`."""

    def act(env: HttpEnv, names: Names) -> None:
        env.cloud.faults.add(FaultRule(kind=FaultKind.STATUS, operation=operation, **rule))

    return Step(f"{operation} fails {json.dumps(rule)}", act)


MENDED = Step("nothing in the cloud fails any more", lambda env, names: env.cloud.faults.clear())


def policy(**rules: str) -> Step:
    """Replace the operator's policy rules. In names, a double underscore stands for a colon."""

    named = {name.replace("__", ":"): rule for name, rule in rules.items()}

    def act(env: HttpEnv, names: Names) -> None:
        env.set_policy(named)

    return Step(f"the operator sets policy rules {json.dumps(named)}", act)


def longest_lease(hours: int, *exempt: str) -> Step:
    """Enable the filter that limits the duration of leases."""

    def act(env: HttpEnv, names: Names) -> None:
        rule = MaxLeaseDuration(timedelta(hours=hours), frozenset(exempt))
        env.restart(replace(env.context, filters={"MaxLeaseDurationFilter": rule}))

    return Step(f"leases may last at most {hours} hours", act)


def limits(**changed: int) -> Step:
    """Set limits on the contents of one request."""

    def act(env: HttpEnv, names: Names) -> None:
        settings = env.context.settings
        leases = replace(settings.leases, limits=replace(settings.leases.limits, **changed))
        env.restart(replace(env.context, settings=replace(settings, leases=leases)))

    return Step(f"the operator limits requests to {json.dumps(changed)}", act)
