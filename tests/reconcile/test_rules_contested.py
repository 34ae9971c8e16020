"""Usage rules that count, with managers that book for one project at the same time, on every database."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
import yaml
from databases import KINDS
from reconcile.parts import Conditions
from reconcile.reconciler_env import LESSEE, EnvOn, ReconcilerEnv
from reconcile.test_concurrency import all_at_once, body, check_settled_after

from blazar.domain.rules.parsing import parse_rules
from blazar.manager.service import ManagerService

every_database = pytest.mark.parametrize("kind", KINDS)


def race(env: ReconcilerEnv, rule: str, windows: Sequence[tuple[float, float]]) -> Counter[str]:
    """Return the results of requests that four managers serve at the same time."""
    env.reset(Conditions(hosts=len(windows)))
    managers = []
    for _ in range(4):
        context = env.new_manager().context
        rules = parse_rules(yaml.safe_load(f"rules: [{{name: r, {rule}}}]"), context.plugins)
        managers.append(ManagerService(replace(context, rules=rules)))
    return all_at_once(
        [
            functools.partial(managers[number % 4].create_lease, LESSEE, body(env, str(number), *each))
            for number, each in enumerate(windows)
        ]
    )


@every_database
def test_hours_ahead_are_not_exceeded_together(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)

    results = race(env, "kind: stacking, most_hours: 3", [(1, 2)] * 8)

    assert results == {"done": 3, "RuleForbidsLease": 5}
    check_settled_after(env, 1.1)


@every_database
def test_two_leases_that_are_too_close_are_not_made_together(kind: str, env_on: EnvOn) -> None:
    env = env_on(kind)
    windows = [(1 + number / 4, 2 + number / 4) for number in range(8)]

    results = race(env, "kind: cool_down, cool_down_hours: 5", windows)

    assert results == {"done": 1, "RuleForbidsLease": 7}
