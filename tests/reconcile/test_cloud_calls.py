"""Number of cloud calls: two per host, plus a constant.

Here, calls are made one after another, so that the last answer shows the handover of all hosts.
"""

from __future__ import annotations

import pytest
from reconcile.parts import Conditions
from reconcile.reconciler_env import ReconcilerEnv


@pytest.mark.parametrize("hosts", [1, 20])
def test_a_start_costs_two_calls_a_host_and_a_constant(env: ReconcilerEnv, hosts: int) -> None:
    env.reset(Conditions(hosts=hosts))
    lease = env.create("a", 1, 2, (hosts, hosts))
    env.at(0.99)
    before = env.counted

    env.at(1.1)

    assert len(env.hosts_of(lease)) == hosts
    assert env.counted - before == 2 * hosts + 1


def test_a_preparation_costs_three_calls(env: ReconcilerEnv) -> None:
    env.create("a", 1, 2)
    env.at(0.5)
    before = env.counted

    env.at(0.99)

    assert env.counted - before == 3


@pytest.mark.parametrize("hosts", [1, 20])
def test_a_start_without_preparation_costs_two_calls_more(env: ReconcilerEnv, hosts: int) -> None:
    env.reset(Conditions(hosts=hosts))
    env.create("a", "now", 2, (hosts, hosts))
    before = env.counted

    env.at(0.1)

    assert env.counted - before == 2 * hosts + 3


@pytest.mark.parametrize("hosts", [1, 20])
def test_an_end_without_servers_costs_two_calls_a_host_and_a_constant(env: ReconcilerEnv, hosts: int) -> None:
    env.reset(Conditions(hosts=hosts))
    env.create("a", "now", 2, (hosts, hosts))
    env.at(1.9)
    before = env.counted

    env.at(2.1)

    assert env.counted - before == 2 * hosts + 5


def test_an_active_lease_is_left_alone(env: ReconcilerEnv) -> None:
    env.create("a", "now", 48)
    env.at(0.1)
    before = env.counted

    env.at(47.9)

    assert env.counted == before
