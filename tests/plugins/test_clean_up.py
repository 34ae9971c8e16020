"""Items that are only cleaned up, as the service's own plugins declare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum

import pytest
from plugin_cases import CASES, assignment_of, lessee_of, new_cloud, spec_of

from blazar.domain.lifecycle import Phase
from blazar.plugins.capabilities import CleansUp
from blazar.plugins.floatingips.items import Kind as FloatingIPKind
from blazar.plugins.hosts.items import Kind as HostKind
from blazar.plugins.networks.items import Kind as NetworkKind
from blazar.plugins.slots.items import Kind as SlotKind
from blazar.plugins.volumes.items import Kind as VolumeKind
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.settings import Settings

KINDS: Mapping[str, Iterable[IntEnum]] = {
    "physical:host": HostKind,
    "virtual:instance": SlotKind,
    "flavor:instance": SlotKind,
    "virtual:floatingip": FloatingIPKind,
    "virtual:volume": VolumeKind,
    "physical:storage": frozenset(VolumeKind) - {VolumeKind.CREATED},
    "network": NetworkKind,
}
MORE_KEYS: Mapping[str, Mapping[str, object]] = {
    "virtual:instance": {"affinity": True},
    "flavor:instance": {"affinity": True},
    "virtual:volume": {"volumes": [{"size": 1, "name": "data"}]},
}
"""Keys of requests without which some kinds are not wanted."""


@pytest.mark.parametrize("resource_type", list(CASES))
def test_every_kind_of_item_is_either_wanted_or_cleaned_up(resource_type: str) -> None:
    case, cloud = CASES[resource_type], new_cloud()
    plugin = case.make(Settings().with_own(VolumeSettings(acts_in_projects=True)), None)
    resources = case.furnish(cloud)
    spec = spec_of(plugin, case, lessee_of(cloud), **MORE_KEYS.get(resource_type, {}))

    wanted = {
        each.rank for each in plugin.wanted(assignment_of(plugin, case, resources, spec), Phase.RUNNING)
    }

    cleaned = plugin.clean_up_ranks if isinstance(plugin, CleansUp) else frozenset()
    assert sorted([*wanted, *cleaned]) == sorted(KINDS[resource_type])
