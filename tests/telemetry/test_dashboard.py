"""The dashboard for Grafana."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import yaml
from telemetry.promql import check_names, promtool

from blazar.ports import metrics

DASHBOARD = json.loads((Path(__file__).parents[2] / "etc" / "grafana" / "blazar.json").read_text())
PANELS = [each for each in DASHBOARD["panels"] if each["type"] != "row"]
EXPRESSIONS = [target["expr"] for each in PANELS for target in each["targets"]]


def test_its_queries_name_only_metrics_and_labels_that_exist() -> None:
    for each in EXPRESSIONS:
        check_names(each)


def test_promtool_accepts_its_queries(tmp_path: Path) -> None:
    rules = [{"record": f"query:{number}", "expr": each} for number, each in enumerate(EXPRESSIONS)]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))

    assert f"{len(EXPRESSIONS)} rules found" in promtool("check", "rules", str(path))


def test_it_shows_every_metric() -> None:
    shown = " ".join(EXPRESSIONS)

    assert [each.name for each in metrics.ALL if each.name not in shown] == []


def test_its_panels_do_not_overlap() -> None:
    places = [each["gridPos"] for each in DASHBOARD["panels"]]

    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below, (one, other)
    assert all(each["x"] + each["w"] <= 24 for each in places)
    assert len({each["id"] for each in DASHBOARD["panels"]}) == len(places)
