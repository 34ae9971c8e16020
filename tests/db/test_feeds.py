"""Stored feeds, and leases that were deleted recently, on every database."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from clocks import EPOCH
from samples import make_lease

from blazar.db.store import SqlStore
from blazar.db.tables import feeds
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.feeds import DeletedLease, Feed, FeedKind
from blazar.domain.lease import LeaseId

DAY = timedelta(days=1)
FEED = Feed(
    id="f1",
    token_digest="a" * 64,
    kind=FeedKind.AVAILABILITY,
    name="\u00e4\U0001f600",
    user_id="user",
    project_id="project",
    question={"resource_type": "physical:host", "amount": "2"},
    created_at=EPOCH,
)
GONE = DeletedLease(
    lease_id=LeaseId("l1"),
    name="night",
    user_id="user",
    project_id="project",
    start=EPOCH,
    end=EPOCH + DAY,
    revision=3,
    created_at=None,
    deleted_at=EPOCH + DAY,
)


def insert(store: SqlStore, *added: Feed) -> None:
    with store.begin() as transaction:
        for each in added:
            transaction.feeds.insert(each)
        transaction.commit()


def remember(store: SqlStore, *deleted: DeletedLease) -> None:
    with store.begin() as transaction:
        for each in deleted:
            transaction.feeds.insert_deleted(each)
        transaction.commit()


def listed(store: SqlStore, project_id: str | None = None) -> list[str]:
    with store.read() as transaction:
        return [each.id for each in transaction.feeds.list(project_id)]


def leases_of(store: SqlStore, feed: Feed, most: int = 10) -> dict[LeaseId, int]:
    now = EPOCH + 10 * DAY
    with store.read() as transaction:
        found = transaction.feeds.list_leases(feed, ending_after=EPOCH + DAY, now=now, most=most)
    return {key: revision for key, (revision, _) in found.items()}


def deleted_of(store: SqlStore, feed: Feed, after: timedelta = timedelta(0), most: int = 10) -> list[int]:
    with store.read() as transaction:
        found = transaction.feeds.list_deleted(feed, EPOCH + after, most)
    return [each.revision for each in found]


def of_kind(kind: FeedKind, lease_id: str | None = None) -> Feed:
    return replace(FEED, kind=kind, lease_id=None if lease_id is None else LeaseId(lease_id))


def test_a_feed_is_found_by_its_id_and_by_its_token(store: SqlStore) -> None:
    other = replace(
        FEED,
        id="f2",
        token_digest="b" * 64,
        kind=FeedKind.LEASE,
        user_id=None,
        lease_id=LeaseId("l1"),
        question={},
        alarm=timedelta(minutes=15),
        last_used_at=EPOCH,
    )
    insert(store, FEED, other)

    with store.read() as transaction:
        assert transaction.feeds.find("f1") == transaction.feeds.find_by_token("a" * 64) == FEED
        assert transaction.feeds.find("f2") == transaction.feeds.find_by_token("b" * 64) == other
        assert transaction.feeds.find("f3") is None
        assert transaction.feeds.find("F1") is None
        assert transaction.feeds.find_by_token("A" * 64) is None


def test_feeds_are_listed_by_age(store: SqlStore) -> None:
    younger = replace(FEED, id="f0", token_digest="b" * 64, created_at=EPOCH + DAY)
    insert(store, younger, FEED, replace(FEED, id="f3", token_digest="c" * 64, project_id="other"))

    assert listed(store, "project") == ["f1", "f0"]
    assert listed(store, "nowhere") == []
    assert listed(store) == ["f1", "f3", "f0"]


def test_a_token_has_one_feed(store: SqlStore) -> None:
    insert(store, FEED)

    with pytest.raises(ConcurrentUpdate):
        insert(store, replace(FEED, id="f2"))


def test_a_feed_is_deleted_once(store: SqlStore) -> None:
    insert(store, FEED, replace(FEED, id="f2", token_digest="b" * 64))

    for _ in range(2):
        with store.begin() as transaction:
            transaction.feeds.delete("f1")
            transaction.commit()

    assert listed(store) == ["f2"]


def test_the_last_use_is_stored(store: SqlStore) -> None:
    insert(store, FEED, replace(FEED, id="f2", token_digest="b" * 64))

    with store.begin() as transaction:
        transaction.feeds.note_use(FEED, EPOCH + DAY)
        transaction.feeds.note_use(replace(FEED, id="f3"), EPOCH + DAY)
        transaction.commit()

    with store.read() as transaction:
        assert transaction.feeds.find("f1") == replace(FEED, last_used_at=EPOCH + DAY)
        assert transaction.feeds.find("f2") == replace(FEED, id="f2", token_digest="b" * 64)


def test_only_older_feeds_are_deleted(store: SqlStore) -> None:
    insert(store, FEED, replace(FEED, id="f2", token_digest="b" * 64, created_at=EPOCH + DAY))

    with store.begin() as transaction:
        assert transaction.feeds.delete_before(EPOCH) == 0
        assert transaction.feeds.delete_before(EPOCH + DAY) == 1
        transaction.commit()

    assert listed(store) == ["f2"]


def test_a_damaged_question_is_read_as_none(store: SqlStore, engine: sa.Engine) -> None:
    insert(store, FEED)
    with engine.begin() as connection:
        connection.execute(sa.update(feeds).values(question="{"))

    with store.read() as transaction:
        assert transaction.feeds.find("f1") == replace(FEED, question={})


def test_a_feed_shows_leases_of_its_project_user_or_lease(store: SqlStore) -> None:
    owners = {"l1": ("project", "user"), "l2": ("project", "other"), "l3": ("other", "user")}
    with store.begin() as transaction:
        for number, (lease_id, (project, user)) in enumerate(owners.items()):
            lease = replace(make_lease(lease_id), project_id=project, user_id=user, revision=number)
            transaction.leases.insert(replace(lease, start=EPOCH, end=EPOCH + 20 * DAY))
        transaction.commit()

    assert leases_of(store, of_kind(FeedKind.PROJECT)) == {"l1": 0, "l2": 1}
    assert leases_of(store, of_kind(FeedKind.USER)) == {"l1": 0}
    assert leases_of(store, of_kind(FeedKind.LEASE, "l2")) == {"l2": 1}
    assert leases_of(store, of_kind(FeedKind.LEASE, "l3")) == {}


def test_versions_differ_if_a_revision_is_written_again(store: SqlStore) -> None:
    feed, lease = of_kind(FeedKind.PROJECT), make_lease("l1", start=1, end=20 * 24)
    with store.begin() as transaction:
        transaction.leases.insert(lease)
        transaction.commit()

    def version_of_change(at: datetime) -> object:
        # Nothing is committed, as if a backup was restored.
        with store.begin() as transaction:
            transaction.leases.replace(lease, lease, at)
            found = transaction.feeds.list_leases(feed, ending_after=EPOCH, now=EPOCH, most=10)
        return found[LeaseId("l1")]

    assert version_of_change(EPOCH) == (1, EPOCH)
    assert version_of_change(EPOCH + DAY) == (1, EPOCH + DAY)


def test_a_user_that_is_not_known_has_no_leases(store: SqlStore) -> None:
    with store.begin() as transaction:
        lease = replace(make_lease("l1"), project_id="project", user_id=None)
        transaction.leases.insert(replace(lease, start=EPOCH, end=EPOCH + 20 * DAY))
        transaction.commit()

    assert leases_of(store, replace(of_kind(FeedKind.USER), user_id=None)) == {}


def test_the_leases_nearest_to_the_present_are_shown_first(store: SqlStore) -> None:
    ends = {"old": 1, "past": 2, "recently": 9, "now": 10, "soon": 11, "later": 12}
    with store.begin() as transaction:
        for lease_id, day in ends.items():
            lease = replace(make_lease(lease_id), project_id="project")
            transaction.leases.insert(replace(lease, start=EPOCH, end=EPOCH + day * DAY))
        transaction.commit()
    feed = of_kind(FeedKind.PROJECT)

    assert list(leases_of(store, feed)) == ["soon", "later", "now", "recently", "past"]
    assert list(leases_of(store, feed, most=3)) == ["soon", "later", "now"]
    assert list(leases_of(store, feed, most=1)) == ["soon"]


def test_deleted_leases_are_remembered_for_the_same_feeds(store: SqlStore) -> None:
    others = [
        replace(GONE, lease_id=LeaseId("l2"), user_id="other", revision=4),
        replace(GONE, lease_id=LeaseId("l3"), project_id="other", revision=5),
    ]
    remember(store, GONE, *others)

    assert deleted_of(store, of_kind(FeedKind.PROJECT)) == [4, 3]
    assert deleted_of(store, of_kind(FeedKind.PROJECT), most=1) == [4]
    assert deleted_of(store, of_kind(FeedKind.USER)) == [3]
    assert deleted_of(store, of_kind(FeedKind.LEASE, "l2")) == [4]
    assert deleted_of(store, of_kind(FeedKind.LEASE, "l3")) == []
    assert deleted_of(store, of_kind(FeedKind.PROJECT), DAY) == []
    with store.read() as transaction:
        assert list(transaction.feeds.list_deleted(of_kind(FeedKind.USER), EPOCH, 1)) == [GONE]


def test_a_lease_that_is_imported_again_is_deleted_again(store: SqlStore) -> None:
    remember(store, GONE, replace(GONE, revision=7, deleted_at=EPOCH + 2 * DAY))

    assert deleted_of(store, of_kind(FeedKind.PROJECT)) == [7, 3]


def test_only_older_deletions_are_forgotten(store: SqlStore) -> None:
    remember(store, GONE, replace(GONE, revision=4, deleted_at=EPOCH + 2 * DAY))

    with store.begin() as transaction:
        assert transaction.feeds.forget_deleted(EPOCH + DAY) == 0
        assert transaction.feeds.forget_deleted(EPOCH + 2 * DAY) == 1
        transaction.commit()

    assert deleted_of(store, of_kind(FeedKind.PROJECT)) == [4]
