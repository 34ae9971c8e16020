"""The Prometheus meter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from telemetry.scraping import samples, scrape

from blazar.ports import metrics
from blazar.telemetry.prometheus import PrometheusMeter, metrics_page

ONE_OF_SEVERAL = """
from prometheus_client import CollectorRegistry
from blazar.ports import metrics
from blazar.telemetry.prometheus import PrometheusMeter, metrics_page

registry = CollectorRegistry()
meter = PrometheusMeter(registry, (*metrics.OF_EVERY_PROCESS, *metrics.OF_API))
meter.set(metrics.BUILD_INFO, 1, "19.0.0")
meter.count(metrics.API_REQUESTS, "GET", "/v1/leases", "200")
meter.observe(metrics.API_REQUEST_SECONDS, 0.02, "GET", "/v1/leases")
shown = metrics_page(registry)({"REQUEST_METHOD": "GET", "PATH_INFO": "/metrics"}, lambda *_: None)
print(b"".join(shown).decode())
"""


def test_what_is_counted_and_observed_is_shown() -> None:
    registry = CollectorRegistry()
    meter = PrometheusMeter(registry, metrics.OF_MANAGER)

    for seconds in (0.02, 3.0):
        meter.count(metrics.RETRIES)
        meter.observe(metrics.REQUEST_SECONDS, seconds, "create_lease")
    shown = scrape(metrics_page(registry))

    assert shown["blazar_request_retries_total"] == 2
    assert shown['blazar_manager_request_duration_seconds_sum{method="create_lease"}'] == 3.02
    assert shown['blazar_manager_request_duration_seconds_bucket{le="0.025",method="create_lease"}'] == 1
    assert shown['blazar_manager_request_duration_seconds_bucket{le="+Inf",method="create_lease"}'] == 2


def test_a_renamed_metric_is_also_shown_under_its_former_name() -> None:
    registry = CollectorRegistry()
    meter = PrometheusMeter(registry, metrics.OF_MANAGER)

    meter.count(metrics.PERIODIC_TASK_FAILURES, "sweep")
    meter.observe(metrics.PERIODIC_TASK_SECONDS, 2.0, "sweep")
    shown = scrape(metrics_page(registry))

    assert shown['blazar_periodic_task_failures_total{task="sweep"}'] == 1
    assert shown['blazar_chore_failures_total{chore="sweep"}'] == 1
    assert shown['blazar_periodic_task_duration_seconds_sum{task="sweep"}'] == 2
    assert shown['blazar_chore_duration_seconds_sum{chore="sweep"}'] == 2


def test_what_never_happened_is_shown_as_none() -> None:
    registry = CollectorRegistry()
    PrometheusMeter(registry, metrics.OF_MANAGER)

    assert scrape(metrics_page(registry))["blazar_claims_taken_over_total"] == 0


def test_several_processes_of_one_api_show_their_numbers_together(tmp_path: Path) -> None:
    shown = [
        samples(
            subprocess.run(
                [sys.executable, "-c", ONE_OF_SEVERAL],
                env={"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)},
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for _ in range(3)
    ]

    key = 'blazar_api_requests_total{method="GET",route="/v1/leases",status="200"}'
    assert [each[key] for each in shown] == [1, 2, 3]
    assert shown[-1]['blazar_build_info{version="19.0.0"}'] == 1
    assert shown[-1]['blazar_api_request_duration_seconds_count{method="GET",route="/v1/leases"}'] == 3


def test_a_folder_that_is_missing_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path / "nowhere"))

    with pytest.raises(ValueError, match="PROMETHEUS_MULTIPROC_DIR"):
        metrics_page(CollectorRegistry())
