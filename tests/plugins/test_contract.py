"""The contract suite for the service's own plugins."""

from __future__ import annotations

import turns
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
    # In tests/reconcile, every single step of these fails once. Of every fifth step, runs take turns.
    stride = 10
    first = 1 + 5 * turns.part(2)


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
