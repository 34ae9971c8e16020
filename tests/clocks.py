"""Clocks for tests: those that authors of plugins have, too."""

from blazar_plugin_testing.clocks import EPOCH, ManualClock, SharedClock

__all__ = ["EPOCH", "ManualClock", "SharedClock"]
