"""The class that Nova loads, over a stand-in for the base class that it inherits from Nova.

What Nova's own machinery makes of it is tested with a real nova-scheduler, elsewhere.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

NAME = "blazarnova.scheduler.filters.blazar_filter"


class BaseHostFilter:
    """As in Nova: a filter that asks ``host_passes`` of each host."""

    run_filter_once_per_request = False
    RUN_ON_REBUILD = False

    def filter_all(self, hosts: list[Any], spec_obj: Any) -> list[Any]:
        return [host for host in hosts if self.host_passes(host, spec_obj)]

    def host_passes(self, host_state: Any, spec_obj: Any) -> bool:
        raise NotImplementedError


@dataclass
class NovaAggregate:
    name: str
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def availability_zone(self) -> str | None:
        return self.metadata.get("availability_zone")


@dataclass
class NovaHost:
    host: str
    aggregates: list[NovaAggregate]


@dataclass
class NovaFlavor:
    specs: dict[str, str] | None

    def obj_attr_is_set(self, name: str) -> bool:
        assert name == "extra_specs"
        return self.specs is not None

    @property
    def extra_specs(self) -> dict[str, str]:
        assert self.specs is not None, "loading extra specs from the database"
        return self.specs


@dataclass
class NovaRequest:
    flavor: NovaFlavor
    hints: dict[str, Any] | None = None
    project_id: str = "me"

    def get_scheduler_hint(self, name: str, default: Any = None) -> Any:
        value = (self.hints or {}).get(name, default)
        return value[0] if isinstance(value, list) and len(value) == 1 else value


FREE = NovaHost("free", [NovaAggregate("freepool")])
ORDINARY = NovaHost("ordinary", [])
MINE = NovaHost("mine", [NovaAggregate("R", {"availability_zone": "blazar_R", "blazar:owner": "me"})])
THEIRS = NovaHost("theirs", [NovaAggregate("Q", {"availability_zone": "blazar_Q", "blazar:owner": "you"})])


@pytest.fixture
def blazar_filter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    filters: Any = ModuleType("nova.scheduler.filters")
    filters.BaseHostFilter = BaseHostFilter
    scheduler: Any = ModuleType("nova.scheduler")
    scheduler.filters = filters
    for module in (ModuleType("nova"), scheduler, filters):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    yield importlib.import_module(NAME).BlazarFilter()
    monkeypatch.delitem(sys.modules, NAME)


def passing(blazar_filter: Any, request: NovaRequest) -> list[str]:
    return [each.host for each in blazar_filter.filter_all([FREE, ORDINARY, MINE, THEIRS], request)]


def test_a_hint_leads_to_the_hosts_of_the_reservation(blazar_filter: Any) -> None:
    assert passing(blazar_filter, NovaRequest(NovaFlavor({}), {"reservation": ["R"]})) == ["mine"]
    assert passing(blazar_filter, NovaRequest(NovaFlavor({}), {"reservation": ["R", "Q"]})) == ["mine"]


def test_without_a_hint_only_ordinary_hosts_are_left(blazar_filter: Any) -> None:
    assert passing(blazar_filter, NovaRequest(NovaFlavor({}))) == ["ordinary"]
    assert passing(blazar_filter, NovaRequest(NovaFlavor({}), {})) == ["ordinary"]


def test_the_flavor_of_a_reservation_passes_everywhere(blazar_filter: Any) -> None:
    request = NovaRequest(NovaFlavor({"aggregate_instance_extra_specs:reservation": "I"}))

    assert passing(blazar_filter, request) == ["free", "ordinary", "mine", "theirs"]


def test_extra_specs_that_were_not_sent_along_are_not_fetched(blazar_filter: Any) -> None:
    assert passing(blazar_filter, NovaRequest(NovaFlavor(None))) == ["ordinary"]


def test_the_filter_runs_once_a_request_and_not_on_a_rebuild(blazar_filter: Any) -> None:
    assert blazar_filter.run_filter_once_per_request is True
    assert blazar_filter.RUN_ON_REBUILD is False
