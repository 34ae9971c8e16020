"""The plugin passes the suite that the service ships for authors."""

from __future__ import annotations

from licences import LicenceHarness

from blazar.plugins.testing import PluginContract


class TestLicences(PluginContract):
    harness_type = LicenceHarness
