"""Reserved floating IPs whose lessee makes port forwardings, which keep Neutron from deleting them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from plugin_cases import RESERVATION
from plugins.floatingips_env import FloatingIPEnv

from blazar.cloud.simulated.faults import FaultKind
from blazar.domain.errors import CannotChange, CloudConflict
from blazar.plugins.floatingips.teardown import delete_with_uses


class Restless:
    """Neutron, in which the lessee forwards a port before each deletion of a floating IP."""

    def __init__(self, env: FloatingIPEnv, floating_ip_id: str) -> None:
        self._env = env
        self._floating_ip_id = floating_ip_id

    def delete_floating_ip(self, floating_ip_id: str) -> None:
        self._env.cloud.forward_port(self._floating_ip_id)
        self._env.networks.delete_floating_ip(floating_ip_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env.networks, name)


@pytest.fixture
def env() -> FloatingIPEnv:
    return FloatingIPEnv()


def test_they_go_at_the_end_with_their_port_forwardings(env: FloatingIPEnv) -> None:
    env.make_all()
    found = env.at(env.first)
    assert found is not None
    forwardings = {env.cloud.forward_port(found.id) for _ in range(2)}

    assert set(env.networks.list_port_forwardings(found.id)) == forwardings
    env.end()

    assert env.networks.list_floating_ips() == ()
    assert env.networks.list_port_forwardings(found.id) == ()


def test_a_port_forwarding_that_the_lessee_deletes_meanwhile_is_no_obstacle(env: FloatingIPEnv) -> None:
    env.make_all()
    found = env.at(env.first)
    assert found is not None
    env.cloud.forward_port(found.id)
    env.fail("networks.delete_port_forwarding", kind=FaultKind.STATUS, status=404)

    env.end()

    assert env.networks.list_floating_ips() == ()


def test_an_address_that_neutron_does_not_release_for_another_reason_is_reported(env: FloatingIPEnv) -> None:
    env.make_all()
    env.fail("networks.delete_floating_ip", kind=FaultKind.STATUS, status=409)

    with pytest.raises(CloudConflict):
        env.end()
    env.end()

    assert env.networks.list_floating_ips() == ()


def test_a_program_that_forwards_ports_without_end_does_not_hold_up_a_step(env: FloatingIPEnv) -> None:
    env.make_all()
    found = env.at(env.first)
    assert found is not None
    restless = Restless(env, found.id)

    with pytest.raises(CloudConflict):
        delete_with_uses(restless, found)

    assert env.at(env.first) is not None


def test_an_address_with_a_port_forwarding_is_in_use(env: FloatingIPEnv) -> None:
    env.make_all()
    found = env.at(env.second)
    assert found is not None
    env.cloud.forward_port(found.id)
    spec, second = env.assignment.spec, env.assignment.resources[1].id

    smaller = replace(env.assignment, spec=replace(spec, amount=1))
    assert env.plugin.count_in_use(env.cloud, smaller, spec) == {second: 1}
    assert env.plugin.observe_use(env.cloud, [env.assignment]) == {RESERVATION: {second: 1}}
    with pytest.raises(CannotChange, match=env.second):
        env.plugin.release(env.cloud, env.assignment, {})
    assert env.at(env.first) is not None
