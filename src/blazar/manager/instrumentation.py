"""Instrumentation of a manager: metrics and log context."""

from __future__ import annotations

from dataclasses import replace

from blazar.booking.context import Context
from blazar.damage import damaged_rows
from blazar.ports.meter import Meter, Problems
from blazar.telemetry.log_context import ThreadLogContext
from blazar.telemetry.measured import MeasuredFilter, measured_cloud, measured_plugin


def instrumented(context: Context, meter: Meter) -> Context:
    """Return the context with metrics at its ports and a log context for its work."""
    damaged_rows.count_in(meter)
    return replace(
        context,
        cloud=measured_cloud(context.cloud, meter),
        plugins={key: measured_plugin(each, meter) for key, each in context.plugins.items()},
        filters={name: MeasuredFilter(each, name, meter) for name, each in context.filters.items()},
        meter=meter,
        log_context=ThreadLogContext(),
    )


def all_problems(*parts: Problems) -> Problems:
    """Return a function that collects the problems of all parts."""
    return lambda: tuple(problem for part in parts for problem in part())
