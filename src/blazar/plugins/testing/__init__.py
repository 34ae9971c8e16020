"""Test tools for authors of resource plugins; they need pytest, which the service itself does not.

A plugin's tests are a :class:`Harness` and a class that inherits :class:`PluginContract`::

    class TestContract(PluginContract):
        harness_type = MyHarness

The guide is ``doc/plugins/writing.md``.
"""

from __future__ import annotations

import pytest

# Failing assertions show the compared values, as in the author's own tests.
pytest.register_assert_rewrite(
    "blazar.plugins.testing.contract",
    "blazar.plugins.testing.lives",
    "blazar.plugins.testing.offered",
    "blazar.plugins.testing.place",
)

from blazar.plugins.testing.harness import Harness, Outside  # noqa: E402 - after the registration
from blazar.plugins.testing.lives import PluginContract  # noqa: E402
from blazar.plugins.testing.offered import CapabilityContract  # noqa: E402
from blazar.plugins.testing.place import Place  # noqa: E402

__all__ = ["CapabilityContract", "Harness", "Outside", "Place", "PluginContract"]
