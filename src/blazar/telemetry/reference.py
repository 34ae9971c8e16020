"""The reference of all metrics, for ``doc/``: ``python -m blazar.telemetry.reference``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from blazar.ports import metrics
from blazar.ports.meter import Kind, Metric

_HEAD = """\
# Metrics

All metrics of the service, in the order in which `/metrics` shows them. [Monitoring](../operators/monitor.md)
explains how to enable and use them. This page is the output of `python -m blazar.telemetry.reference`.

No label value is an id: the values are names of methods, operations, statuses, types and error codes.
Counters and histograms start at 0 when a process starts; a time series appears with its first event.
The standard process metrics, such as `process_cpu_seconds_total` and `process_resident_memory_bytes`, are
exported as well.
"""
_CHAPTERS = (
    (
        "Metrics of every process",
        "Served together with the metrics below.",
        metrics.OF_EVERY_PROCESS,
    ),
    (
        "Metrics of the API",
        "Served by `blazar-api` if `[metrics] in_api` is set, and by `blazar-standalone`.",
        metrics.OF_API,
    ),
    (
        "Metrics of a manager",
        "Served by `blazar-manager` if `[metrics] listen_port` is set, and by `blazar-standalone`. Each "
        "manager counts its own work: add the values up.",
        metrics.OF_MANAGER,
    ),
    (
        "Metrics of the database",
        "Also served by managers, each with the same values: use the maximum. They are read in a "
        "fixed number of statements, and not again within `[metrics] keep_seconds`.",
        metrics.FROM_DATABASE,
    ),
    (
        "Free amounts and forecast",
        "Also served by managers, each with the same values: use one of them. They come from the index of "
        "bookings that each manager holds.",
        metrics.FROM_INDEXES,
    ),
)


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_HEAD, *(line for each in _CHAPTERS for line in _chapter(*each))])


def _chapter(title: str, text: str, found: Iterable[Metric]) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"{text}\n"
    yield "| metric | type | labels | description |"
    yield "|---|---|---|---|"
    for each in found:
        labels = ", ".join(f"`{label}`" for label in each.labels) or "none"
        yield f"| `{each.name}` | {each.kind} | {labels} | {_text(each)} |"
    yield ""


def _text(metric: Metric) -> str:
    text = metric.help
    if metric.kind is Kind.HISTOGRAM:
        text += f" Seconds, in buckets from {metric.buckets[0]:g} to {metric.buckets[-1]:g}."
    if metric.alias is not None:
        text += f" Until the next release also exported under its former name `{metric.alias.name}`"
        former = ", ".join(f"`{label}`" for label in metric.alias.labels)
        text += f", with the labels {former}." if metric.alias.labels != metric.labels else "."
    return text


if __name__ == "__main__":
    sys.stdout.write(page())
