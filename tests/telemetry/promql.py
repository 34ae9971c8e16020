"""Checks of expressions in the language of Prometheus."""

from __future__ import annotations

import re
import shutil
import subprocess

from needed import give_up

from blazar.ports import metrics
from blazar.ports.meter import Kind

_ENDS = {Kind.HISTOGRAM: ("_bucket", "_count", "_sum")}
LABELS = {
    metric.name + end: {*metric.labels, "le", "instance", "job"}
    for metric in metrics.ALL
    for end in _ENDS.get(metric.kind, ("",))
}
"""The labels of each time series of the service, with those that Prometheus adds."""


def check_names(expression: str) -> None:
    """Fail if an expression names a time series of the service, or a label of it, that does not exist."""
    for name, selected in re.findall(r"\b(blazar_\w+)(?:\{([^}]*)\})?", expression):
        assert name in LABELS, name
        assert set(re.findall(r"(\w+)[=!]", selected)) <= LABELS[name], expression


def promtool(*arguments: str) -> str:
    """Run promtool, which Debian's package prometheus has; return its output. It must succeed."""
    command = shutil.which("promtool")
    if command is None:
        give_up("promtool is not installed (Debian: prometheus)")
    done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
