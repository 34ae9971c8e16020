"""The tests of capabilities for the second type, whose reservations have no items."""

from __future__ import annotations

from typing import ClassVar

from blazar.booking.context import Plugin
from blazar.manager.service import ManagerService
from blazar.plugins.contract import JsonObject
from blazar_licences.dongles.plugin import Dongles
from blazar_plugin_testing import CapabilityContract, CloudEnv, Harness
from blazar_plugin_testing.service_env import LESSEE


class DongleHarness(Harness):
    """One dongle."""

    body: ClassVar[JsonObject] = {"product": "cad"}
    changes: ClassVar[JsonObject] = {}
    everything: ClassVar[JsonObject] = {}
    refused: ClassVar[tuple[tuple[str, JsonObject], ...]] = (("product", {"product": 1}),)

    def set_up(self, env: CloudEnv) -> None:
        """Do nothing: dongles are only registered."""

    def register(self, service: ManagerService) -> None:
        service.create_resource(LESSEE, "dongle", {"serial": "D-1", "product": "cad"})

    def make_plugin(self, env: CloudEnv) -> Plugin:
        return Dongles()

    def snapshot(self, env: CloudEnv) -> object:
        return None


class TestDongles(CapabilityContract):
    harness_type = DongleHarness
