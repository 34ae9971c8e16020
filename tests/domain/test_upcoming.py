"""A subscription is compared only with the leases that it may be about."""

from __future__ import annotations

from domain.test_notices import make_subscription
from hypothesis import given
from hypothesis import strategies as st
from samples import at, make_lease

from blazar.domain.lease import Lease
from blazar.domain.notices import Notice, NoticeType
from blazar.domain.subscriptions import Scope, Subscription
from blazar.domain.upcoming import UpcomingLeases

NAMES = st.sampled_from(["a", "b", None])
LEASES = st.lists(
    st.builds(
        lambda number, start, project, user: make_lease(
            f"lease{number}", start=start, end=99, reservations=0, project_id=project, user_id=user
        ),
        st.integers(0, 5),
        st.integers(1, 9),
        NAMES,
        NAMES,
    ),
    unique_by=lambda lease: lease.id,
)
SUBSCRIPTIONS = st.builds(
    lambda scope, project, user, number: make_subscription(
        scope=scope, project_id=project, user_id=user, lease_id=f"lease{number}"
    ),
    st.sampled_from(Scope),
    NAMES,
    NAMES,
    st.integers(0, 5),
)


def by_start(*leases: Lease) -> UpcomingLeases:
    return UpcomingLeases((each.start, each) for each in leases)


def is_covered(subscription: Subscription, lease: Lease) -> bool:
    notice = Notice(
        type=NoticeType.STARTS_SOON,
        lease_id=lease.id,
        project_id=lease.project_id,
        user_id=lease.user_id,
        data={},
        at=at(0),
    )
    return subscription.covers(notice)


@given(LEASES, SUBSCRIPTIONS, st.integers(0, 10))
def test_no_covered_lease_is_missing_and_none_is_after_the_end(
    leases: list[Lease], subscription: Subscription, hours: int
) -> None:
    found = by_start(*leases).within(subscription, at(hours))

    covered = {each.id for each in leases if each.start <= at(hours) and is_covered(subscription, each)}
    assert covered <= {lease.id for _, lease in found}
    assert all(date == lease.start <= at(hours) for date, lease in found)
    assert [date for date, _ in found] == sorted(date for date, _ in found)


def test_a_long_lead_time_of_one_lessee_costs_nothing_for_others() -> None:
    days, projects = 30, 100
    upcoming = by_start(
        *(
            make_lease(f"{project}-{day}", start=24 * day, end=9999, reservations=0, project_id=str(project))
            for project in range(projects)
            for day in range(1, days + 1)
        )
    )
    leads = [(make_subscription(project_id=str(project)), 1) for project in range(projects)]
    leads[0] = (make_subscription(project_id="0"), days)
    leads.append((make_subscription(scope=Scope.SITE, project_id=None), 2))

    compared = [len(upcoming.within(subscription, at(24 * lead))) for subscription, lead in leads]

    assert compared == [days, *[1] * (projects - 1), 2 * projects]
