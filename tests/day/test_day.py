"""The parts of bench/day: plans and windows of a day, mail that is counted, and lateness that is read."""

from __future__ import annotations

import random
import smtplib
from collections import Counter
from datetime import datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import make_database
from samples import make_lease

from bench.day.happenings import FAULTS, UPGRADE, Happening, plan_of
from bench.day.lateness import Late, outside, read_lateness
from bench.day.mailbox import Mailbox, open_mailbox
from bench.day.pace import QUIET, Day
from bench.day.wishes import SHARES, length_of, period_of
from bench.plots import Band, Curve, Panel, picture
from blazar.db import tables
from blazar.db.store import SqlStore
from blazar.manager.clocks import FastClock, SystemClock

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def make_day(hours: float = 3) -> Day:
    clock = FastClock(epoch=SystemClock().now(), speed=60)
    start = clock.now().replace(second=0, microsecond=0)
    return Day(clock=clock, start=start, end=start + hours * HOUR)


@pytest.mark.parametrize("seed", range(20))
def test_no_lease_starts_or_ends_while_the_state_is_checked(seed: int) -> None:
    chance, day = random.Random(seed), make_day()
    for kind in SHARES:
        start, end = period_of(day, length_of(kind, chance), chance)
        for instant in (start or day.minute(), end):
            assert not day.end < instant < day.end + QUIET
        assert end > (start or day.minute())


@pytest.mark.parametrize("seed", range(5))
def test_each_kind_of_fault_comes_once_before_any_comes_twice(seed: int) -> None:
    day = make_day()
    plan = plan_of(day, random.Random(seed), upgrades=3, faults=len(FAULTS) + 2)

    names = [name for _, name in plan]
    faults = [each for each in names if each != UPGRADE]
    assert names.count(UPGRADE) == 3
    assert set(faults[: len(FAULTS)]) == set(FAULTS)
    assert max(Counter(faults).values()) <= 2
    assert [at for at, _ in plan] == sorted(at for at, _ in plan)
    assert all(day.start <= at < day.end for at, _ in plan)


def send(mailbox: Mailbox, name: str, recipient: str, message_id: str) -> None:
    message = EmailMessage()
    message["From"], message["To"] = "noreply@example.org", recipient
    message["Subject"] = f"Lease {name} has ended"
    message["Message-ID"] = message_id
    message["X-Blazar-Notice"] = "lease.ended"
    message.set_content("It has ended.")
    with smtplib.SMTP("127.0.0.1", mailbox.port) as smtp:
        smtp.send_message(message)


def test_mail_is_counted_once_and_repetitions_apart() -> None:
    with open_mailbox() as mailbox:
        for message_id in ("<1@x>", "<1@x>", "<2@x>"):
            send(mailbox, "user-1-lease-1", "user-1@example.org", message_id)

    assert mailbox.about == {("user-1-lease-1", "lease.ended"): 2}
    assert mailbox.repeated() == 1
    assert mailbox.misdirected == []


def test_mail_to_another_user_is_found() -> None:
    with open_mailbox() as mailbox:
        send(mailbox, "user-1-lease-1", "user-11@example.org", "<1@x>")

    assert len(mailbox.misdirected) == 1


def entry(lease_id: str, event: str, reason: str, at: datetime) -> dict[str, object]:
    return {"lease_id": lease_id, "event": event, "reason": reason, "actor": "manager", "at": at}


def test_lateness_counts_from_the_date_or_the_last_change(tmp_path: Path) -> None:
    with make_database("sqlite", tmp_path) as engine:
        with SqlStore(engine, ManualClock(), {}).begin() as transaction:
            transaction.leases.insert(make_lease("lease", start=1, end=2))
            transaction.commit()
        entries = [
            entry("lease", "lease.status", "PENDING -> STARTING", EPOCH + HOUR + MINUTE),
            entry("lease", "lease.status", "STARTING -> ACTIVE", EPOCH + HOUR + 2 * MINUTE),
            entry("lease", "update", "end_date", EPOCH + 2 * HOUR + MINUTE),
            entry("lease", "lease.status", "ACTIVE -> TERMINATING", EPOCH + 2 * HOUR + 3 * MINUTE),
            entry("lease", "lease.status", "TERMINATING -> TERMINATED", EPOCH + 2 * HOUR + 4 * MINUTE),
        ]
        with engine.begin() as connection:
            connection.execute(sa.insert(tables.journal), entries)

        start, end = read_lateness(engine)

    assert (start.due, start.began_at - start.due, start.done_at - start.due) == (
        EPOCH + HOUR,
        MINUTE,
        2 * MINUTE,
    )
    assert (end.due, end.began_at - end.due, end.done_at - end.due) == (
        EPOCH + 2 * HOUR + MINUTE,
        2 * MINUTE,
        3 * MINUTE,
    )


def test_what_was_due_during_faults_is_left_out() -> None:
    fault = Happening(name="x", began_at=EPOCH, ended_at=EPOCH + HOUR, strikes=1)
    late = [
        Late(what="start", due=EPOCH + hours * HOUR, began_at=EPOCH, done_at=EPOCH) for hours in (0.5, 1.5)
    ]

    assert outside(late, [(fault.began_at, fault.ended_at)]) == late[1:]


def test_a_picture_is_a_document_with_all_curves() -> None:
    curves = [Curve(name=name, points=[(0, 1), (5, 2)]) for name in ("API", "managers")]
    band = Band(left=1, right=2, colour="#eee")
    panels = [Panel(title="cores", curves=curves, most=3, ticks=[0, 5], bands=[band])] * 2

    root = ElementTree.fromstring(picture(panels, str, is_column=True))

    texts = [each.text for each in root.iter() if each.tag.endswith("text")]
    assert texts.count("API") == texts.count("managers") == 2
