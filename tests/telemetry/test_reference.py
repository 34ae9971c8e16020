"""The table of metrics, and the pages that are generated from it."""

from __future__ import annotations

import re
from pathlib import Path

from blazar.options import METRICS_OPTIONS
from blazar.ports import metrics
from blazar.ports.meter import Kind, Metric
from blazar.telemetry.reference import page

MONITOR = (Path(__file__).parents[2] / "doc" / "operators" / "monitor.md").read_text()
DOC = Path(__file__).parents[2] / "doc"


def test_the_kept_page_is_current() -> None:
    assert (DOC / "reference" / "metrics.md").read_text() == page(), (
        "run python -m blazar.telemetry.reference > doc/reference/metrics.md"
    )


def test_the_operators_page_names_only_metrics_that_exist() -> None:
    ends = {Kind.HISTOGRAM: ("_bucket", "_count", "_sum")}
    existing = {each.name + end for each in metrics.ALL for end in ("", *ends.get(each.kind, ()))}

    named = set(re.findall(r"\bblazar_[a-z_]+\b", MONITOR))

    assert named - existing == set()


def test_its_rules_select_only_by_labels_that_exist() -> None:
    labels = {each.name: {*each.labels, "le"} for each in metrics.ALL}

    for name, selected in re.findall(r"\b(blazar_[a-z_]+?)(?:_bucket|_count|_sum)?\{([^}]*)\}", MONITOR):
        assert set(re.findall(r"(\w+)=", selected)) <= labels[name], name


def test_it_names_only_options_that_exist() -> None:
    named = set(re.findall(r"`\[metrics\] (\w+)", MONITOR))
    named |= set(re.findall(r"^(\w+) =", MONITOR.partition("## Alerts")[0], re.MULTILINE))

    assert named == {each.dest for each in METRICS_OPTIONS}


def test_no_metric_is_left_out_of_the_lists() -> None:
    declared = {each.name for each in vars(metrics).values() if isinstance(each, Metric)}

    assert declared == {each.name for each in metrics.ALL}
    assert len(metrics.ALL) == len(declared)


def test_names_say_whose_they_are_and_in_which_unit() -> None:
    for each in metrics.ALL:
        assert re.fullmatch(r"blazar_[a-z]+(_[a-z]+)*", each.name)
        assert each.name.endswith("_total") is (each.kind is Kind.COUNTER), each.name
        if each.kind is Kind.HISTOGRAM:
            assert each.name.endswith("_seconds")


def test_no_label_can_be_an_id() -> None:
    labels = {label for each in metrics.ALL for label in each.labels}

    assert not {label for label in labels if label.endswith("id") or label in ("lease", "host", "project")}


def test_every_metric_says_what_it_is() -> None:
    assert [each.name for each in metrics.ALL if not each.help.endswith(".")] == []
