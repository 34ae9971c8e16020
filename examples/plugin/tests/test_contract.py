"""The contract suite that the service provides for plugin authors."""

from __future__ import annotations

from licences import LicenceHarness

from blazar_plugin_testing import PluginContract


class TestLicences(PluginContract):
    harness_type = LicenceHarness
