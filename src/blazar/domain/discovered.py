"""The former name of :mod:`blazar.domain.plugin_resources`, for plugins of other distributions."""

from __future__ import annotations

from blazar.domain.plugin_resources import PluginResource as DiscoveredResource

__all__ = ["DiscoveredResource"]
