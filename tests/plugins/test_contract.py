"""The contract suite for the service's own plugins."""

from __future__ import annotations

from plugins.harnesses import (
    FlavorsHarness,
    FloatingIPsHarness,
    HostsHarness,
    InstancesHarness,
    NetworksHarness,
    StorageNodesHarness,
    VolumesHarness,
)

from blazar_plugin_testing import PluginContract


class OwnContract(PluginContract):
    # In tests/reconcile, every single step of these fails once, on every database.
    stride = 5


class TestHosts(OwnContract):
    harness_type = HostsHarness


class TestInstances(OwnContract):
    harness_type = InstancesHarness


class TestFlavors(OwnContract):
    harness_type = FlavorsHarness


class TestFloatingIPs(OwnContract):
    harness_type = FloatingIPsHarness


class TestVolumes(OwnContract):
    harness_type = VolumesHarness


class TestStorageNodes(OwnContract):
    harness_type = StorageNodesHarness


class TestNetworks(OwnContract):
    harness_type = NetworksHarness
