"""Test tools for authors of resource plugins.

A plugin's tests are a :class:`Harness` and a class that inherits :class:`PluginContract`::

    class TestContract(PluginContract):
        harness_type = MyHarness

The guide is ``doc/plugins/writing.md``.
"""

from __future__ import annotations

import pytest

__version__ = "19.0.0"
"""The version of the service, which the tools need."""

# Failing assertions show the compared values, as in the author's own tests.
pytest.register_assert_rewrite(
    "blazar_plugin_testing.contract",
    "blazar_plugin_testing.lives",
    "blazar_plugin_testing.offered",
    "blazar_plugin_testing.plugin_env",
)

from blazar_plugin_testing.harness import CloudEnv, Harness  # noqa: E402 - after the registration
from blazar_plugin_testing.lives import PluginContract  # noqa: E402
from blazar_plugin_testing.offered import CapabilityContract  # noqa: E402
from blazar_plugin_testing.plugin_env import PluginEnv  # noqa: E402

__all__ = ["CapabilityContract", "CloudEnv", "Harness", "PluginContract", "PluginEnv"]
