"""Filters as the configuration names them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from oslo_config import cfg
from samples import make_lease

from blazar import config
from blazar.domain.errors import LeaseTooLong
from blazar.domain.lease import Lease
from blazar.manager.plugins import PluginError, load_filters, load_usage_rules
from blazar.ports.enforcement import LeaseUsage


def conf_of(tmp_path: Path, text: str) -> cfg.ConfigOpts:
    path = tmp_path / "blazar.conf"
    path.write_text(f"[enforcement]\n{text}\n")
    return config.make_conf([], "test", config_files=[str(path)])


def usage(lease: Lease) -> LeaseUsage:
    return LeaseUsage(lease=lease, document={})


def test_by_default_there_are_none(tmp_path: Path) -> None:
    assert load_filters(conf_of(tmp_path, "")) == {}


def test_a_filter_is_told_its_options(tmp_path: Path) -> None:
    text = "enabled_filters = MaxLeaseDurationFilter\nmax_lease_duration = 3600\n"
    exempt = "max_lease_duration_exempt_project_ids = rich,richer"

    (found,) = load_filters(conf_of(tmp_path, text + exempt)).values()

    lease = make_lease(start=1, end=2)
    found.check_create(usage(lease), "key")
    found.check_create(usage(make_lease(start=1, end=9, project_id="richer")), "key")
    with pytest.raises(LeaseTooLong):
        found.check_create(usage(make_lease(start=1, end=2 + 1 / 60)), "key")
    assert lease.end - lease.start == timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("enabled_filters = NoSuchFilter", "enabled_filters: there is nothing named NoSuchFilter"),
        ("enabled_filters = MaxLeaseDurationFilter,MaxLeaseDurationFilter", "a filter is named twice"),
        ("max_lease_duraton = 3600", "max_lease_duraton: there is no such option"),
        ("enabled_filters = ExternalServiceFilter", "external_service_base_endpoint: must be set"),
        (
            "enabled_filters = ExternalServiceFilter\nexternal_service_base_endpoint = ftp://usage.example",
            "external_service_base_endpoint: must be a URL",
        ),
        (
            "enabled_filters = ExternalServiceFilter\nexternal_service_commit_endpoint = /commit",
            "external_service_commit_endpoint: must be a URL",
        ),
    ],
)
def test_what_cannot_be_meant_stops_the_start_up(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(PluginError, match=problem):
        load_filters(conf_of(tmp_path, text))


def test_an_invalid_rule_prevents_the_start_and_is_named(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        "rules: [{name: gpu, kind: longest, longest_hours: 3, aplies_to: {resources: gpu=a100}}]"
    )

    with pytest.raises(
        PluginError, match=rf"^\[enforcement\] rules_file: {rules}: rule 1 \(gpu\): aplies_to: is unknown"
    ):
        load_usage_rules(conf_of(tmp_path, f"rules_file = {rules}"), ["physical:host"])
