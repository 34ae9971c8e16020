"""The table of metrics, and the pages that are made of it."""

from __future__ import annotations

import re
from pathlib import Path

from blazar.ports import metrics
from blazar.ports.meter import Kind, Metric
from blazar.telemetry.reference import page

DOC = Path(__file__).parents[2] / "doc"


def test_the_kept_page_is_current() -> None:
    assert (DOC / "reference" / "metrics.md").read_text() == page(), (
        "run python -m blazar.telemetry.reference > doc/reference/metrics.md"
    )


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
