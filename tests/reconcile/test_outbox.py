"""What becomes of messages whose sender dies."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest
from reconcile.lab import Lab

from blazar.cloud.simulated import SimulatedCrash
from blazar.ports.store import Message
from blazar.reconcile.outbox import SENT_AT_ONCE, OutboxSender

TAKEOVER = timedelta(seconds=15)
"""What is promised of whatever a dead manager was at."""


class Deadly:
    """Whoever notifies it is killed."""

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        raise SimulatedCrash(event_type)


def test_what_a_killed_manager_was_about_to_notify_is_notified_by_another(lab: Lab) -> None:
    lease_id = lab.create("lease", 1, 2)
    other = OutboxSender(lab.store, lab.clock, lab.sent, {})
    with pytest.raises(SimulatedCrash):
        OutboxSender(lab.store, lab.clock, Deadly(), {}).send_due()

    at_once = other.send_due()
    lab.clock.advance(TAKEOVER)
    later = other.send_due()

    assert (at_once, later) == (0, 1)
    assert lab.sent.counts == {(lease_id, "lease.create"): 1}


def test_all_that_is_due_is_sent_however_much_it_is(lab: Lab) -> None:
    leases = [lab.create(f"lease {number}", 1 + number, 2 + number) for number in range(5)]
    message = Message(
        event_type="lease.many", lease_id=leases[0], payload={"lease_id": leases[0], "status": "PENDING"}
    )
    with lab.store.begin() as transaction:
        transaction.outbox.append([message] * (2 * SENT_AT_ONCE), lab.clock.now())
        transaction.commit()

    lab.manager.reconciler.send_outbox()

    assert lab.sent.counts[leases[0], "lease.many"] == 2 * SENT_AT_ONCE
    assert all(lab.sent.counts[lease, "lease.create"] == 1 for lease in leases)
