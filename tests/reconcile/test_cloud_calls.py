"""Number of cloud calls: two per host, plus a constant."""

from __future__ import annotations

import pytest
from reconcile.lab import Lab
from reconcile.parts import Conditions


@pytest.mark.parametrize("hosts", [1, 20])
def test_a_start_costs_two_calls_a_host_and_a_constant(lab: Lab, hosts: int) -> None:
    lab.reset(Conditions(hosts=hosts))
    lease = lab.create("a", 1, 2, (hosts, hosts))
    lab.at(0.99)
    before = lab.counted

    lab.at(1.1)

    assert len(lab.hosts_of(lease)) == hosts
    assert lab.counted - before == 2 * hosts + 2


@pytest.mark.parametrize("hosts", [1, 20])
def test_a_start_without_preparation_costs_three_calls_more(lab: Lab, hosts: int) -> None:
    lab.reset(Conditions(hosts=hosts))
    lab.create("a", "now", 2, (hosts, hosts))
    before = lab.counted

    lab.at(0.1)

    assert lab.counted - before == 2 * hosts + 5


@pytest.mark.parametrize("hosts", [1, 20])
def test_an_end_without_servers_costs_three_calls_a_host_and_a_constant(lab: Lab, hosts: int) -> None:
    lab.reset(Conditions(hosts=hosts))
    lab.create("a", "now", 2, (hosts, hosts))
    lab.at(1.9)
    before = lab.counted

    lab.at(2.1)

    assert lab.counted - before == 3 * hosts + 3


def test_an_active_lease_is_left_alone(lab: Lab) -> None:
    lab.create("a", "now", 48)
    lab.at(0.1)
    before = lab.counted

    lab.at(47.9)

    assert lab.counted == before
