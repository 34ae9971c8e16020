"""The reference of all metrics, for ``doc/``: ``python -m blazar.telemetry.reference``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from blazar.ports import metrics
from blazar.ports.meter import Kind, Metric

_HEAD = """\
# Metrics

All metrics of the service, in the order in which `/metrics` shows them. How to have them shown, and what to
look at, is in [Monitoring](../operators/monitor.md). `python -m blazar.telemetry.reference` writes this page.

No label has an id for its value: there are names of methods, operations, statuses, types and error codes.
Counters and histograms begin at 0 when a process starts; one whose labels nobody has met yet is not shown.
Beside them stand `process_cpu_seconds_total`, `process_resident_memory_bytes` and their like.
"""
_CHAPTERS = (
    (
        "Of the API",
        "Served by `blazar-api` where `[metrics] in_api` is set, and by `blazar-standalone`.",
        metrics.OF_API,
    ),
    (
        "Of a manager",
        "Served by `blazar-manager` where `[metrics] listen_port` is set, and by `blazar-standalone`. Each "
        "manager counts what it did itself: add them up.",
        metrics.OF_MANAGER,
    ),
    (
        "Of the database",
        "Served by managers, too, and the same at each: take the largest. They are read in five statements, "
        "and not again within `[metrics] keep_seconds`.",
        metrics.FROM_DATABASE,
    ),
)


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_HEAD, *(line for each in _CHAPTERS for line in _chapter(*each))])


def _chapter(title: str, text: str, found: Iterable[Metric]) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"{text}\n"
    yield "| metric | type | labels | what it is |"
    yield "|---|---|---|---|"
    for each in found:
        labels = ", ".join(f"`{label}`" for label in each.labels) or "none"
        yield f"| `{each.name}` | {each.kind} | {labels} | {_text(each)} |"
    yield ""


def _text(metric: Metric) -> str:
    if metric.kind is not Kind.HISTOGRAM:
        return metric.help
    return f"{metric.help} Seconds, in buckets from {metric.buckets[0]:g} to {metric.buckets[-1]:g}."


if __name__ == "__main__":
    sys.stdout.write(page())
