"""Limits as Keystone has them, and what is remembered of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from clocks import ManualClock
from keystoneauth1.exceptions import ConnectFailure
from oslo_config import cfg

from blazar.domain.errors import LimitsUnavailable
from blazar.enforcement.limits import KeystoneLimits, connect

LIFETIME = timedelta(seconds=60)


@dataclass
class Keystone:
    """Answers as ``oslo_limit.limit.Enforcer`` does, when it is up."""

    defaults: dict[str, int] = field(default_factory=dict)
    own: dict[str, dict[str, int]] = field(default_factory=dict)
    asked: int = 0
    problem: Exception | None = None

    def get_registered_limits(self, resources_to_check: None) -> list[tuple[str, int]]:
        if self.problem is not None:
            raise self.problem
        return list(self.defaults.items())

    def get_project_limits(self, project_id: str, resource_names: None) -> list[tuple[str, int]]:
        self.asked += 1
        if self.problem is not None:
            raise self.problem
        return list(self.own.get(project_id, {}).items())


@pytest.fixture
def keystone() -> Keystone:
    return Keystone(defaults={"leases": 5, "reserved_hosts": 3}, own={"rich": {"leases": -1}})


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def limits(keystone: Keystone, clock: ManualClock) -> KeystoneLimits:
    return KeystoneLimits(lambda: keystone, clock, LIFETIME)


def test_a_projects_own_limits_come_before_the_registered_ones(limits: KeystoneLimits) -> None:
    assert limits.get("rich") == {"leases": -1, "reserved_hosts": 3}
    assert limits.get("poor") == {"leases": 5, "reserved_hosts": 3}
    assert limits.get_defaults() == {"leases": 5, "reserved_hosts": 3}


def test_they_are_remembered_for_their_lifetime(
    limits: KeystoneLimits, keystone: Keystone, clock: ManualClock
) -> None:
    limits.get("poor")
    keystone.defaults["leases"] = 9
    clock.advance(LIFETIME - timedelta(seconds=1))
    assert limits.get("poor")["leases"] == 5

    clock.advance(timedelta(seconds=1))

    assert limits.get("poor")["leases"] == 9
    assert keystone.asked == 2


def test_who_asks_for_fresh_ones_gets_them_and_has_them_remembered(
    limits: KeystoneLimits, keystone: Keystone
) -> None:
    limits.get("poor")
    keystone.defaults["leases"] = 9

    assert limits.get("poor", fresh=True)["leases"] == 9
    assert limits.get("poor")["leases"] == 9
    assert keystone.asked == 2


@pytest.mark.parametrize("problem", [ConnectFailure("refused"), ValueError("Service not found")])
def test_no_answer_is_no_limit_of_nought_and_none_of_any_height(
    limits: KeystoneLimits, keystone: Keystone, clock: ManualClock, problem: Exception
) -> None:
    limits.get("poor")
    keystone.problem = problem

    assert limits.get("poor")["leases"] == 5
    with pytest.raises(LimitsUnavailable):
        limits.get("rich")
    with pytest.raises(LimitsUnavailable):
        limits.get_defaults()


def test_a_connection_that_could_not_be_made_is_made_later(keystone: Keystone, clock: ManualClock) -> None:
    attempts: list[Exception] = [ConnectFailure("not up yet")]

    def connect_at_last() -> Keystone:
        if attempts:
            raise attempts.pop()
        return keystone

    limits = KeystoneLimits(connect_at_last, clock, LIFETIME)
    with pytest.raises(LimitsUnavailable):
        limits.get("poor")

    assert limits.get("poor")["leases"] == 5


def test_another_configuration_than_the_processes_own_is_refused() -> None:
    with pytest.raises(ValueError, match="require the global configuration"):
        connect(cfg.ConfigOpts())
