"""``blazar-manage rules check``: usage rules as they are understood."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest
from app.http_env import HttpEnv

from blazar.cmd.manage.rules import check_rules
from blazar.domain.errors import InvalidParameter

FILE = """
rules:
- name: gpu-three-days
  kind: longest
  applies_to: {resource_types: ["physical:host"], resources: rack=r1, projects: [p1], roles: [member]}
  exempt_projects: [p2]
  longest_days: 3
- {name: ahead, kind: horizon, start_days: 30, mode: log}
- {name: own, kind: only_for, only_for_projects: [p3], applies_to: {resources: rack=r2}}
- {name: nothing, kind: shortest, shortest_hours: 1, applies_to: {resources: gpu=none}}
"""


def check(env: HttpEnv, path: Path, output: str = "text") -> int:
    return check_rules(env.context, Namespace(file=str(path), format=output))


@pytest.mark.usefixtures("hosts")
def test_rules_are_printed_as_understood(
    env: HttpEnv, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(FILE)

    assert check(env, path) == 0

    assert capsys.readouterr().out.splitlines() == [
        "1. gpu-three-days (longest): physical:host with rack=r1: a lease lasts at most 3 days",
        "   only for projects p1",
        "   only for callers with a role of member",
        "   not for projects p2",
        "   2 registered resources match now",
        "2. ahead (horizon, only logged): all resource types: a lease starts at most 30 days ahead",
        "3. own (only_for): all resource types with rack=r2: only for certain projects",
        "   only for projects p3",
        "   2 registered resources match now",
        "4. nothing (shortest): all resource types with gpu=none: a lease lasts at least 1 hour",
        "   no registered resources match now",
        "The file is valid",
    ]
    check(env, path, "json")
    first, *_ = json.loads(capsys.readouterr().out)
    assert first == {
        "name": "gpu-three-days",
        "kind": "longest",
        "is_enforced": True,
        "summary": "physical:host with rack=r1: a lease lasts at most 3 days",
        "resource_types": ["physical:host"],
        "resources": "rack=r1",
        "matching_resources": 2,
        "projects": ["p1"],
        "roles": ["member"],
        "exempt_projects": ["p2"],
        "only_for_projects": [],
    }


def test_a_mistake_is_an_error_with_file_rule_and_key(env: HttpEnv, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(FILE.replace("longest_days: 3", "longest_days: three"))

    with pytest.raises(InvalidParameter, match=rf"{path}: rule 1 \(gpu-three-days\): longest_days: must"):
        check(env, path)
