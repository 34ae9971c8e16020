"""The alert rules for Prometheus, checked and evaluated by its promtool."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from telemetry.promql import check_names, promtool

ROOT = Path(__file__).parents[2]
RULES = ROOT / "etc" / "prometheus" / "blazar.rules.yaml"
PAGE = (ROOT / "doc" / "operators" / "alerts.md").read_text()
ALERTS: Mapping[str, Any] = {
    rule["alert"]: rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
}

Series = Mapping[str, str]

ALL_HOSTS = 'collection="host",unit="resources",property="",value="",instance="a"'
RACK = 'collection="host",unit="VCPU",property="rack",value="r1",instance="a"'

TROUBLES: Mapping[str, tuple[Series, Mapping[str, str]]] = {
    "BlazarDatabaseAway": (
        {'blazar_database_up{instance="a"}': "1 0x180", 'blazar_database_up{instance="b"}': "1x180"},
        {},
    ),
    "BlazarManagerAway": (
        {'up{job="blazar-manager",instance="a"}': "1 0x180"},
        {"job": "blazar-manager", "instance": "a"},
    ),
    "BlazarBrokerAway": (
        {'blazar_notifications_total{event_type="lease.create",outcome="failed"}': "0+1x180"},
        {},
    ),
    "BlazarApiWithoutManager": (
        {'blazar_api_manager_call_failures_total{method="get_lease"}': "0+1x180"},
        {},
    ),
    "BlazarCloudAway": (
        {
            'blazar_cloud_call_failures_total{service="nova",error="cloud-unavailable"}': "0+2x180",
            'blazar_cloud_call_duration_seconds_count{service="nova"}': "0+10x180",
        },
        {"service": "nova"},
    ),
    "BlazarClockWrong": ({'blazar_clock_difference_seconds{instance="a"}': "0 -1.5x180"}, {"instance": "a"}),
    "BlazarWorkOverdue": ({'blazar_work_oldest_overdue_seconds{instance="a"}': "0 31+60x180"}, {}),
    "BlazarStartsLate": (
        {
            'blazar_event_lag_seconds_bucket{event="start_lease",le="10.0"}': "0x180",
            'blazar_event_lag_seconds_bucket{event="start_lease",le="30.0"}': "0+1x180",
            'blazar_event_lag_seconds_bucket{event="start_lease",le="+Inf"}': "0+1x180",
        },
        {},
    ),
    "BlazarEndsLate": (
        {
            'blazar_event_lag_seconds_bucket{event="end_lease",le="30.0"}': "0x180",
            'blazar_event_lag_seconds_bucket{event="end_lease",le="60.0"}': "0+1x180",
            'blazar_event_lag_seconds_bucket{event="end_lease",le="+Inf"}': "0+1x180",
        },
        {},
    ),
    "BlazarReclamationSlow": (
        {
            'blazar_event_duration_seconds_bucket{event="end_lease",le="600.0"}': "0x180",
            'blazar_event_duration_seconds_bucket{event="end_lease",le="1800.0"}': "0+1x180",
            'blazar_event_duration_seconds_bucket{event="end_lease",le="+Inf"}': "0+1x180",
        },
        {},
    ),
    "BlazarLeasesInError": ({'blazar_leases{status="ERROR",instance="a"}': "1x180"}, {"status": "ERROR"}),
    "BlazarLeasesWait": (
        {'blazar_leases_waiting_longest_seconds{status="STARTING",instance="a"}': "0+60x180"},
        {"status": "STARTING"},
    ),
    "BlazarPassesFail": ({'blazar_work_failing{instance="a"}': "2x180"}, {}),
    "BlazarResourcesMissing": ({'blazar_reservations_missing_resources{instance="a"}': "1x180"}, {}),
    "BlazarHostsFailed": (
        {'blazar_resources{collection="host",health="failed",instance="a"}': "1x180"},
        {"collection": "host", "health": "failed"},
    ),
    "BlazarResourcesReported": (
        # The time series begins with the first report.
        {'blazar_reported_resources_total{resource_type="physical:host",instance="a"}': "_x150 1x30"},
        {"resource_type": "physical:host"},
    ),
    "BlazarRequestsRefused": (
        {'blazar_resource_shortages_total{resource_type="physical:host"}': "0+1x180"},
        {"resource_type": "physical:host"},
    ),
    "BlazarPoolNearlyEmpty": (
        {f"blazar_capacity_low_after_seconds{{{ALL_HOSTS}}}": "0x180"},
        {"collection": "host", "unit": "resources"},
    ),
    "BlazarPoolWillBeEmpty": (
        {f"blazar_capacity_low_after_seconds{{{RACK}}}": "180000-60x180"},
        {"collection": "host", "unit": "VCPU", "property": "rack", "value": "r1"},
    ),
    "BlazarLeasesUnmoved": (
        {'blazar_maintenance_leases{state="ahead",instance="a"}': "2x180"},
        {"state": "ahead"},
    ),
    "BlazarMessagesWait": ({'blazar_outbox_oldest_seconds{instance="a"}': "0+60x180"}, {}),
    "BlazarMessagesFailed": ({'blazar_outbox_failed_messages{instance="a"}': "1x180"}, {}),
    "BlazarNoticesLate": ({'blazar_notices_overdue_seconds{instance="a"}': "0+60x180"}, {}),
    "BlazarMailFails": ({'blazar_notices_total{channel="mail",outcome="failed"}': "0+1x180"}, {}),
    "BlazarFilterSilent": (
        {'blazar_filter_checks_total{filter="usage",outcome="failed"}': "0+1x180"},
        {"filter": "usage"},
    ),
    "BlazarManagersDie": ({"blazar_claims_taken_over_total": "0+1x180"}, {}),
    "BlazarStepsHang": ({'blazar_workers_hanging{instance="a"}': "1x180"}, {"instance": "a"}),
    "BlazarPeriodicTasksFail": (
        {'blazar_periodic_task_failures_total{task="sweep"}': "0+1x180"},
        {"task": "sweep"},
    ),
    "BlazarRowsDamaged": ({'blazar_damaged_rows_total{table="leases"}': "0+1x180"}, {"table": "leases"}),
    "BlazarErrors": ({'blazar_manager_requests_total{method="get_lease",outcome="internal"}': "0+1x180"}, {}),
    "BlazarVersionsDiffer": (
        {
            'blazar_build_info{instance="a",version="19.0.0"}': "1x180",
            'blazar_build_info{instance="b",version="19.0.1"}': "1x180",
        },
        {},
    ),
}
"""For each alert, the time series of an installation in trouble, by the minute, and the alert's labels."""

QUIET: Series = {
    'up{job="blazar-manager",instance="a"}': "1x180",
    'blazar_build_info{instance="a",version="19.0.0"}': "1x180",
    'blazar_database_up{instance="a"}': "1x180",
    'blazar_notifications_total{event_type="lease.create",outcome="sent"}': "0+5x180",
    'blazar_api_manager_call_failures_total{method="get_lease"}': "3x180",
    # Below 10 % of the calls.
    'blazar_cloud_call_failures_total{service="nova",error="cloud-unavailable"}': "0+1x180",
    'blazar_cloud_call_failures_total{service="nova",error="cloud-not-found"}': "0+9x180",
    'blazar_cloud_call_duration_seconds_count{service="nova"}': "0+20x180",
    'blazar_clock_difference_seconds{instance="a"}': "0.2x180",
    'blazar_work_oldest_overdue_seconds{instance="a"}': "2x180",
    'blazar_event_lag_seconds_bucket{event="start_lease",le="10.0"}': "0+1x180",
    'blazar_event_lag_seconds_bucket{event="start_lease",le="+Inf"}': "0+1x180",
    'blazar_event_lag_seconds_bucket{event="end_lease",le="30.0"}': "0+1x180",
    'blazar_event_lag_seconds_bucket{event="end_lease",le="+Inf"}': "0+1x180",
    'blazar_event_duration_seconds_bucket{event="end_lease",le="600.0"}': "0+1x180",
    'blazar_event_duration_seconds_bucket{event="end_lease",le="+Inf"}': "0+1x180",
    'blazar_leases{status="ERROR",instance="a"}': "0x180",
    # Each start waits for up to eight minutes.
    'blazar_leases_waiting_longest_seconds{status="STARTING",instance="a"}': " ".join(["60+60x7"] * 23),
    'blazar_work_failing{instance="a"}': "0x180",
    'blazar_reservations_missing_resources{instance="a"}': "0x180",
    'blazar_resources{collection="host",health="failed",instance="a"}': "0x180",
    # The report is hours ago.
    'blazar_reported_resources_total{resource_type="physical:host",instance="a"}': "1x180",
    # Three days ahead, and never.
    f"blazar_capacity_low_after_seconds{{{ALL_HOSTS}}}": "259200x180",
    f"blazar_capacity_low_after_seconds{{{RACK}}}": "Inf+0x180",
    'blazar_maintenance_leases{state="active",instance="a"}': "3x180",
    'blazar_outbox_oldest_seconds{instance="a"}': "3x180",
    'blazar_outbox_failed_messages{instance="a"}': "0x180",
    'blazar_notices_overdue_seconds{instance="a"}': "2x180",
    'blazar_notices_total{channel="mail",outcome="failed"}': "0+1x180",
    'blazar_notices_total{channel="mail",outcome="sent"}': "0+1x180",
    'blazar_filter_checks_total{filter="usage",outcome="refused"}': "0+1x180",
    "blazar_claims_taken_over_total": "2x180",
    'blazar_workers_hanging{instance="a"}': "0x180",
    'blazar_periodic_task_failures_total{task="sweep"}': "1x180",
    'blazar_manager_requests_total{method="get_lease",outcome="not-found"}': "0+1x180",
}
"""The time series of an installation that works, with errors that are normal."""


def test_promtool_accepts_the_rules() -> None:
    checked = promtool("check", "rules", str(RULES))

    assert f"{len(ALERTS)} rules found" in checked


@pytest.mark.parametrize("alert", list(ALERTS))
def test_an_alert_fires_in_its_trouble_and_not_in_a_quiet_installation(alert: str, tmp_path: Path) -> None:
    series, labels = TROUBLES[alert]
    rule = ALERTS[alert]
    fired = {
        "exp_labels": {**labels, **rule["labels"]},
        "exp_annotations": filled(rule["annotations"], labels),
    }
    tests = [experiment(series, alert, [fired]), experiment(QUIET, alert, [])]
    path = tmp_path / "tests.yaml"
    path.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "tests": tests}))

    assert "SUCCESS" in promtool("test", "rules", str(path))


def test_each_alert_has_its_section_in_the_guide() -> None:
    sections = re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)

    assert sections == list(ALERTS)
    for name, rule in ALERTS.items():
        assert rule["annotations"]["runbook_url"].endswith(f"/operators/alerts.html#{name.lower()}")
        assert rule["labels"]["severity"] in ("critical", "warning")


def test_rules_use_only_metrics_and_labels_that_exist() -> None:
    for rule in ALERTS.values():
        check_names(rule["expr"])


def experiment(series: Series, alert: str, fired: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a test of promtool: with these time series, the alert fires as often after three hours."""
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": "170m", "alertname": alert, "exp_alerts": fired}],
    }


def filled(annotations: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, str]:
    """Return annotations with the values of the labels that they name."""
    return {
        key: re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: labels[found[1]], text)
        for key, text in annotations.items()
    }
