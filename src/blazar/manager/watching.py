"""Having a manager's work counted, and followed in the log."""

from __future__ import annotations

from dataclasses import replace

from blazar.booking.context import Context
from blazar.ports.meter import Meter, Problems
from blazar.telemetry.measured import MeasuredCloud, MeasuredFilter, measured_plugin
from blazar.telemetry.trail import LogTrail


def watched(context: Context, meter: Meter) -> Context:
    """Return the context with all that passes through its ports counted, and what is done followed."""
    return replace(
        context,
        cloud=MeasuredCloud(context.cloud, meter),
        plugins={key: measured_plugin(each, meter) for key, each in context.plugins.items()},
        filters={name: MeasuredFilter(each, name, meter) for name, each in context.filters.items()},
        meter=meter,
        trail=LogTrail(),
    )


def all_problems(*parts: Problems) -> Problems:
    """Return what says why any of the parts does not work."""
    return lambda: tuple(problem for part in parts for problem in part())
