"""Gauges from the database, also while it is slow or unavailable."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from clocks import ManualClock
from telemetry.scraping import Samples, scrape

from blazar.domain.errors import Unavailable
from blazar.ports import metrics
from blazar.ports.stats import Stats, Wait
from blazar.telemetry.process_metrics import ProcessMetrics

FIGURES = Stats(
    leases={"ACTIVE": 3, "ERROR": 1},
    waiting={"STARTING": Wait(leases=2, longest=timedelta(minutes=5))},
    reservations={("physical:host", "active"): 4},
    missing_resources=1,
    work_due=2,
    work_overdue=timedelta(seconds=7),
    offers_open=6,
    outbox=5,
    outbox_age=timedelta(minutes=1),
    outbox_failed=3,
    notices=11,
    notices_age=timedelta(minutes=2),
    notices_overdue=timedelta(seconds=9),
    notices_failed=12,
    resources={("host", "sound"): 8, ("host", "failed"): 1},
    maintenances={"planned": 2},
    under_maintenance={"host": 0},
    maintenance_leases={"ahead": 1},
    reserved={"host": 4},
    free={"host": 5},
)


class Reader:
    """A reader that returns constant figures, immediately or on a signal, or raises an error."""

    def __init__(self, error: Exception | None = None) -> None:
        self.reads = 0
        self.error = error
        self.may_answer = threading.Event()
        self.may_answer.set()

    def read(self, now: datetime) -> Stats:
        self.reads += 1
        self.may_answer.wait(30)
        if self.error is not None:
            raise self.error
        return FIGURES


def process_metrics(reader: Reader, *, kept_for: float = 0) -> ProcessMetrics:
    found = ProcessMetrics(metrics.OF_MANAGER)
    found.show_database(reader, ManualClock(), kept_for)
    return found


def from_database(shown: Samples) -> dict[str, float]:
    names = {each.name for metric in metrics.FROM_DATABASE for each in metric.exported}
    return {key: value for key, value in shown.items() if key.partition("{")[0] in names}


def test_figures_are_shown_under_their_names() -> None:
    assert from_database(scrape(process_metrics(Reader()).page())) == {
        "blazar_database_up": 1,
        'blazar_leases{status="ACTIVE"}': 3,
        'blazar_leases{status="ERROR"}': 1,
        'blazar_leases_waiting{status="STARTING"}': 2,
        'blazar_leases_waiting_longest_seconds{status="STARTING"}': 300,
        'blazar_reservations{resource_type="physical:host",status="active"}': 4,
        "blazar_reservations_missing_resources": 1,
        "blazar_work_due": 2,
        "blazar_work_claimed": 0,
        "blazar_work_failing": 0,
        "blazar_work_oldest_overdue_seconds": 7,
        "blazar_offers_open": 6,
        "blazar_outbox_messages": 5,
        "blazar_outbox_oldest_seconds": 60,
        "blazar_outbox_failed_messages": 3,
        "blazar_notices_waiting": 11,
        "blazar_notices_oldest_seconds": 120,
        "blazar_notices_overdue_seconds": 9,
        "blazar_notices_failed": 12,
        'blazar_resources{collection="host",health="sound"}': 8,
        'blazar_resources{collection="host",health="failed"}': 1,
        'blazar_maintenances{status="planned"}': 2,
        'blazar_maintenance_resources{collection="host"}': 0,
        'blazar_maintenance_leases{state="ahead"}': 1,
        'blazar_resources_promised{collection="host"}': 4,
        'blazar_resources_reserved{collection="host"}': 4,
        'blazar_resources_free{collection="host"}': 5,
    }


def test_a_database_that_is_away_leaves_the_rest_to_be_seen() -> None:
    for error in (Unavailable("away"), RuntimeError("unexpected")):
        found = process_metrics(Reader(error))
        found.meter.count(metrics.TAKEOVERS)

        shown = scrape(found.page())

        assert from_database(shown) == {"blazar_database_up": 0}
        assert shown["blazar_claims_taken_over_total"] == 1


def test_a_storm_of_scrapes_reads_the_database_once() -> None:
    reader = Reader()
    page = process_metrics(reader, kept_for=3600).page()

    shown = [from_database(scrape(page)) for _ in range(20)]

    assert reader.reads == 1
    assert all(each == shown[0] for each in shown)


def test_a_database_that_is_away_is_not_asked_more_often_than_one_that_is_there() -> None:
    reader = Reader(Unavailable("away"))
    page = process_metrics(reader, kept_for=3600).page()

    for _ in range(5):
        scrape(page)

    assert reader.reads == 1


def test_what_is_not_to_be_kept_is_read_again() -> None:
    reader = Reader(Unavailable("away"))
    page = process_metrics(reader).page()
    scrape(page)

    reader.error = None

    assert from_database(scrape(page))["blazar_database_up"] == 1


def test_scrapes_do_not_wait_for_a_database_that_does_not_answer() -> None:
    reader = Reader()
    reader.may_answer.clear()
    found = ProcessMetrics(metrics.OF_MANAGER)
    found.show_database(reader, ManualClock(), 0, longest_wait_seconds=0.01)
    page = found.page()

    shown = [from_database(scrape(page)) for _ in range(3)]
    reader.may_answer.set()

    assert shown == [{"blazar_database_up": 0}] * 3
    assert reader.reads == 1, "a read in progress is not started a second time"
