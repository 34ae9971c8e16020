"""The service's own plugins pass the suite that authors of others are given."""

from __future__ import annotations

from plugins.harnesses import FlavorsHarness, FloatingIPsHarness, HostsHarness, InstancesHarness

from blazar.plugins.testing import PluginContract


class OwnContract(PluginContract):
    # tests/engine has every single step of these go wrong, on every database.
    stride = 5


class TestHosts(OwnContract):
    harness_type = HostsHarness


class TestInstances(OwnContract):
    harness_type = InstancesHarness


class TestFlavors(OwnContract):
    harness_type = FlavorsHarness


class TestFloatingIPs(OwnContract):
    harness_type = FloatingIPsHarness
