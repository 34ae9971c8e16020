"""Statistics of the whole database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from clocks import EPOCH
from db.test_maintenance import make_maintenance
from db.test_notices import make_delivery
from db.test_offers import make_offer
from domain.test_notices import make_subscription
from oslo_db.sqlalchemy import exc_filters
from samples import at, make_allocation, make_host, make_lease
from statements import counted

from blazar.db.stats import SqlStats
from blazar.db.store import SqlStore
from blazar.domain.errors import Unavailable
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import (
    EventStatus,
    EventType,
    Lease,
    LeaseId,
    LeaseStatus,
    ReservationStatus,
    ResourceId,
)
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.outbox import Message
from blazar.ports.stats import Stats, Wait

NOW = at(2)


def test_of_nothing_there_is_nothing(engine: sa.Engine) -> None:
    assert SqlStats(engine).read(NOW) == Stats()


def test_leases_are_counted_by_status_and_reservations_until_they_are_over(
    store: SqlStore, engine: sa.Engine
) -> None:
    running = make_lease("a", reservations=2)
    first, second = running.reservations
    running = replace(
        running,
        status=LeaseStatus.ACTIVE,
        reservations=(
            replace(first, status=ReservationStatus.ACTIVE, missing_resources=True),
            replace(second, status=ReservationStatus.ERROR),
        ),
    )
    over = make_lease("c")
    over = replace(
        over,
        status=LeaseStatus.TERMINATED,
        reservations=(replace(over.reservations[0], status=ReservationStatus.DELETED),),
    )
    with store.begin() as transaction:
        for each in (running, make_lease("b"), over):
            transaction.leases.insert(each)
        transaction.commit()

    stats = SqlStats(engine).read(NOW)

    assert stats.leases == {"ACTIVE": 1, "PENDING": 1, "TERMINATED": 1}
    assert stats.reservations == {
        ("physical:host", "active"): 1,
        ("physical:host", "error"): 1,
        ("physical:host", "pending"): 1,
    }
    assert stats.missing_resources == 1


def waiting(
    lease_id: str,
    status: LeaseStatus,
    begun: EventType | None,
    *,
    problem: str | None = "x",
    changed: float = 1.9,
    start: float = 1,
    end: float = 5,
) -> Lease:
    """Return a lease whose reservation has a problem while an event is in progress."""
    lease = make_lease(lease_id, start=start, end=end)
    (reservation,) = lease.reservations
    return replace(
        lease,
        status=status,
        reservations=(replace(reservation, problem=problem, updated_at=at(changed)),),
        events=tuple(
            replace(each, status=EventStatus.IN_PROGRESS) if each.event_type is begun else each
            for each in lease.events
        ),
    )


def test_leases_wait_in_transition_with_a_reason_since_their_event_was_due(
    store: SqlStore, engine: sa.Engine
) -> None:
    start, end = EventType.START, EventType.END
    starting, ending = LeaseStatus.STARTING, LeaseStatus.TERMINATING
    with store.begin() as transaction:
        for lease in (
            waiting("starts", starting, start, start=1.5),
            waiting("starts late", starting, start, start=0.5),
            waiting("proceeds", starting, start, start=0.25, problem=None),
            waiting("ends", ending, end, start=0, end=1),
            # Its end is not due: it waits for as long as its reservation says.
            replace(waiting("is deleted", LeaseStatus.DELETING, end, changed=1.75), is_deleting=True),
            waiting("runs", LeaseStatus.ACTIVE, None, start=0.1),
            waiting("failed", LeaseStatus.ERROR, None, start=0.1),
        ):
            transaction.leases.insert(lease)
        transaction.commit()

    assert SqlStats(engine).read(NOW).waiting == {
        "STARTING": Wait(leases=2, longest=timedelta(hours=1.5)),
        "TERMINATING": Wait(leases=1, longest=timedelta(hours=1)),
        "DELETING": Wait(leases=1, longest=timedelta(hours=0.25)),
    }


def test_a_lease_with_several_reasons_waits_once(store: SqlStore, engine: sa.Engine) -> None:
    lease = make_lease("a", reservations=3)
    reservations = tuple(replace(each, problem="x", updated_at=at(1.9)) for each in lease.reservations)
    with store.begin() as transaction:
        transaction.leases.insert(replace(lease, status=LeaseStatus.STARTING, reservations=reservations))
        transaction.commit()

    assert SqlStats(engine).read(NOW).waiting == {
        "STARTING": Wait(leases=1, longest=timedelta(hours=2) - timedelta(hours=1.9))
    }


def test_resources_that_are_booked_after_the_end_do_not_make_a_lease_wait(
    store: SqlStore, engine: sa.Engine
) -> None:
    ending, end = LeaseStatus.TERMINATING, EventType.END
    with store.begin() as transaction:
        for name in ("held", "released", "over", "deleted"):
            transaction.of(HOST_STORE).insert(make_host(name))
            lease = waiting(name, ending, end, start=0, end=1)
            transaction.leases.insert(replace(lease, is_deleting=name == "deleted"))
            until = 1 if name == "over" else 9
            transaction.allocations.insert([make_allocation(name, f"{name}-r0", 0, until)])
        transaction.commit()
    with store.begin() as transaction:
        reservation = make_lease("released").reservations[0]
        transaction.allocations.release(reservation.id, [ResourceId("released")], at(1.6))
        transaction.commit()

    assert SqlStats(engine).read(NOW).waiting == {"TERMINATING": Wait(leases=3, longest=timedelta(hours=1))}


def test_work_is_due_claimed_or_failing(store: SqlStore, engine: sa.Engine) -> None:
    with store.begin() as transaction:
        transaction.work.schedule(["late"], at(1))
        transaction.work.schedule(["claimed", "abandoned", "failing"], at(0))
        transaction.work.schedule(["later"], at(3))
        transaction.commit()
    with store.begin() as transaction:
        transaction.work.take("claimed", "m", at(0), at(3))
        transaction.work.take("abandoned", "m", at(0), at(1.5))
        failing = transaction.work.take("failing", "m", at(0), at(1))
        assert failing is not None
        transaction.work.finish(failing, at(4), 3)
        transaction.commit()

    stats = SqlStats(engine).read(NOW)

    assert (stats.work_due, stats.work_claimed, stats.work_failing) == (2, 1, 1)
    # Abandoned work is overdue since its claim expired.
    assert stats.work_overdue == timedelta(hours=1)


def test_messages_keep_their_age_however_often_they_are_tried(store: SqlStore, engine: sa.Engine) -> None:
    with store.begin() as transaction:
        message = Message(event_type="lease.create", lease_id=LeaseId("a"), payload={})
        transaction.outbox.append([message, message], EPOCH)
        transaction.commit()
    with store.begin() as transaction:
        taken = transaction.outbox.take(at(1), at(5), 1)
        transaction.outbox.postpone(taken[0].id, at(9), "refused")
        transaction.commit()

    stats = SqlStats(engine).read(NOW)

    assert (stats.outbox, stats.outbox_age) == (2, timedelta(hours=2))


def test_notices_wait_are_overdue_and_are_given_up(store: SqlStore, engine: sa.Engine) -> None:
    with store.begin() as transaction:
        for key in ("works", "silent", "disabled"):
            transaction.subscriptions.insert(make_subscription(id=key, is_enabled=key != "disabled"))
        transaction.subscriptions.note_failure("silent", at(1), "away", at(9))
        for key, hours in (("works", 1.5), ("silent", 1), ("disabled", 0.5)):
            subscription = make_subscription(id=key)
            queued = make_delivery(subscription, at=at(hours), queued_at=at(hours))
            transaction.deliveries.append([queued, replace(queued, lease_id="other")])
        taken = transaction.deliveries.take(at(1.9), at(9), 1, 1)
        transaction.deliveries.fail(taken[0].id, at(1.9), "500")
        transaction.commit()

    stats = SqlStats(engine).read(NOW)

    assert (stats.notices, stats.notices_failed) == (3, 1)
    assert (stats.notices_age, stats.notices_overdue) == (timedelta(hours=1), timedelta(hours=0.5))


def test_resources_are_sound_reserved_or_free(store: SqlStore, engine: sa.Engine) -> None:
    with store.begin() as transaction:
        for number in range(5):
            transaction.of(HOST_STORE).insert(make_host(str(number)))
        transaction.leases.insert(make_lease("a"))
        transaction.allocations.insert(
            [
                # Host 0 now and, once more, later; host 1 past its end; host 2 later.
                make_allocation("0", "a-r0", 1, 5),
                make_allocation("0", "a-r0", 7, 8),
                make_allocation("1", "a-r0", 0, 1),
                make_allocation("2", "a-r0", 3, 5),
            ]
        )
        for number, health in ((1, Health.DISABLED), (3, Health.FAILED)):
            transaction.resources.set_diagnosis(
                make_host(str(number)).id, Diagnosis(health=health, problem="x"), EPOCH
            )
        transaction.commit()

    stats = SqlStats(engine).read(NOW)

    assert stats.resources == {("host", "sound"): 3, ("host", "disabled"): 1, ("host", "failed"): 1}
    assert stats.reserved == {"host": 2}
    assert stats.free == {"host": 2}


def test_a_released_resource_is_not_counted(store: SqlStore, engine: sa.Engine) -> None:
    with store.begin() as transaction:
        transaction.of(HOST_STORE).insert(make_host("0"))
        transaction.leases.insert(make_lease("a"))
        transaction.allocations.insert([make_allocation("0", "a-r0", 1, 1.5)])
        transaction.commit()
    with store.begin() as transaction:
        reservation, host = make_lease("a").reservations[0], make_host("0")
        transaction.allocations.release(reservation.id, [host.id], at(1.6))
        transaction.commit()

    assert SqlStats(engine).read(NOW).reserved == {"host": 0}


def test_offers_are_open_until_they_are_committed_or_expire(store: SqlStore, engine: sa.Engine) -> None:
    with store.begin() as transaction:
        for offer in (
            make_offer("open", expires_at=at(3)),
            make_offer("expired", expires_at=NOW),
            make_offer("committed", expires_at=at(3)),
        ):
            transaction.offers.insert(offer)
        transaction.offers.commit(make_offer("committed"), at(1))
        transaction.commit()

    assert SqlStats(engine).read(NOW).offers_open == 1


def test_resources_under_maintenance_are_not_free_and_leases_that_hold_them_are_counted(
    store: SqlStore, engine: sa.Engine
) -> None:
    now_, later, over = ResourceId("0"), ResourceId("1"), ResourceId("2")
    with store.begin() as transaction:
        for number in range(4):
            transaction.of(HOST_STORE).insert(make_host(str(number)))
        transaction.maintenances.insert(make_maintenance("m1", now_, start=1, end=4))
        transaction.maintenances.insert(make_maintenance("m2", now_, later, start=5))
        transaction.maintenances.insert(make_maintenance("m3", over, start=0, end=1))
        for name in ("active", "ahead", "before", "beside"):
            transaction.leases.insert(make_lease(name))
        transaction.allocations.insert(
            [
                make_allocation("0", "active-r0", 1, 3),
                # In two maintenances, and on two resources of one of them: one lease.
                make_allocation("0", "ahead-r0", 3, 9),
                make_allocation("1", "ahead-r0", 3, 9),
                make_allocation("1", "before-r0", 2.5, 3),
                make_allocation("2", "beside-r0", 2.5, 9),
            ]
        )
        transaction.commit()

    stats = SqlStats(engine).read(NOW)

    assert stats.maintenances == {"active": 1, "planned": 1}
    assert stats.under_maintenance == {"host": 1}
    assert stats.maintenance_leases == {"active": 1, "ahead": 1}
    assert (stats.reserved, stats.free) == ({"host": 1}, {"host": 3})


def test_there_are_ten_statements_however_much_there_is(store: SqlStore, engine: sa.Engine) -> None:
    with store.begin() as transaction:
        for number in range(30):
            transaction.leases.insert(make_lease(f"l{number}", reservations=2))
            transaction.of(HOST_STORE).insert(make_host(str(number)))
        transaction.commit()

    with counted(engine) as statements:
        SqlStats(engine).read(NOW)

    assert statements.count("SELECT") == 10
    assert statements.count("INSERT", "UPDATE", "DELETE") == 0


def test_a_database_that_is_away_is_unavailable() -> None:
    engine = sa.create_engine("mysql+pymysql://user@127.0.0.1:1/none")
    exc_filters.register_engine(engine)

    with pytest.raises(Unavailable):
        SqlStats(engine).read(NOW)
