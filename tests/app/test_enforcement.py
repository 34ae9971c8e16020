"""Usage enforcement, as lessees experience it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from app.http_env import ADMIN, LESSEE, HttpEnv, lease_of, refusal, shortage

from blazar.booking.contention import Contention
from blazar.booking.usage import fitting
from blazar.db import tables
from blazar.domain.errors import Forbidden
from blazar.domain.lease import ResourceId
from blazar.enforcement.base import Filter
from blazar.enforcement.duration import MaxLeaseDuration
from blazar.manager.service import ManagerService
from blazar.ports.enforcement import EnforcementFilter, JsonObject, LeaseUsage, Occasion
from blazar.ports.manager import Caller

HOUR = timedelta(hours=1)


def with_filters(env: HttpEnv, *filters: EnforcementFilter) -> None:
    named = {f"filter {number}": each for number, each in enumerate(filters)}
    env.restart(replace(env.context, filters=named))


class Recorder(Filter):
    """Filter that records its calls, and refuses if told to."""

    def __init__(
        self, journal: list[str], name: str, *, refuses: bool = False, listens: bool = False
    ) -> None:
        self.journal, self.name, self.refuses, self.listens = journal, name, refuses, listens
        self.asked: list[LeaseUsage] = []
        self.keys: list[str] = []
        self.told: list[tuple[Occasion, str]] = []

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        self.keys.append(key)
        self._check("create", usage)

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        self.asked.append(current)
        self._check("update", usage)

    def wants(self, occasion: Occasion, project_id: str | None) -> bool:
        return self.listens

    def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
        self.told.append((occasion, key))

    def _check(self, what: str, usage: LeaseUsage) -> None:
        self.journal.append(f"{self.name} {what}")
        self.asked.append(usage)
        if self.refuses:
            raise Forbidden(f"{self.name} says no")


@pytest.mark.usefixtures("hosts")
class TestFilters:
    def test_they_are_asked_in_order_and_the_first_refusal_ends_it(self, env: HttpEnv) -> None:
        journal: list[str] = []
        filters = [Recorder(journal, "a"), Recorder(journal, "b", refuses=True), Recorder(journal, "c")]
        with_filters(env, *filters)
        before = env.snapshot()

        message = refusal(env.post("/leases", env.wish(60, 120)), 403)

        assert message == "b says no"
        assert journal == ["a create", "b create"]
        assert env.snapshot() == before

    def test_a_refused_change_changes_nothing(self, env: HttpEnv) -> None:
        lease = env.create(60, 120)
        with_filters(env, Recorder([], "a", refuses=True))
        before = env.snapshot()

        refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(180)}), 403)

        assert env.snapshot() == before

    def test_they_see_the_lease_as_it_is_to_be_with_its_real_ids(self, env: HttpEnv) -> None:
        recorder = Recorder([], "a")
        with_filters(env, recorder)

        lease = env.create(60, 120)
        env.change(lease, end_date=env.date(180))

        created, before, after = (each.lease for each in recorder.asked)
        assert created.id == before.id == after.id == lease["id"]
        assert [each.id for each in created.reservations] == [each["id"] for each in lease["reservations"]]
        assert (before.end - before.start, after.end - after.start) == (HOUR, 2 * HOUR)
        assert created.project_id == LESSEE.project

    def test_a_new_name_uses_nothing(self, env: HttpEnv) -> None:
        journal: list[str] = []
        lease = env.create(60, 120)
        with_filters(env, Recorder(journal, "a"))

        env.change(lease, name="another")

        assert journal == []

    def test_what_cannot_be_had_is_said_first(self, env: HttpEnv) -> None:
        with_filters(env, Recorder([], "a", refuses=True))

        shortage(env.post("/leases", env.wish(60, 120, min=99, max=99)))


@pytest.mark.usefixtures("hosts")
class TestConcurrentBookings:
    """A retried request asks the filters again only if it now uses other resources."""

    @staticmethod
    def overtaken(env: HttpEnv, act: Callable[[], object]) -> Recorder:
        """Run *act* in a concurrent request after the filters were first asked."""
        recorder = Recorder([], "a", listens=True)
        pending = [act]

        class Overtaker(Filter):
            def check_create(self, usage: LeaseUsage, key: str) -> None:
                if pending:
                    pending.pop()()

        with_filters(env, recorder, Overtaker())
        return recorder

    def test_the_same_question_is_asked_once(self, env: HttpEnv, hosts: list[str]) -> None:
        def move_hosts_on() -> None:
            with env.context.store.begin() as transaction:
                transaction.allocations.touch([ResourceId(each) for each in hosts])
                transaction.commit()

        recorder = self.overtaken(env, move_hosts_on)

        lease = env.create(60, 120, min=4, max=4)

        assert [each.lease.id for each in recorder.asked] == [lease["id"]]

    def test_of_other_resources_it_is_asked_again_and_what_was_allowed_is_taken_back(
        self, env: HttpEnv, hosts: list[str]
    ) -> None:
        quiet = replace(env.context, filters={}, contention=Contention())
        rival = ManagerService(quiet)
        caller = Caller(user_id="rival", project_id="rivals")
        recorder = self.overtaken(env, lambda: rival.create_lease(caller, env.wish(60, 120)))

        lease = env.create(60, 120)
        env.work()

        first, second = recorder.asked
        assert (first.lease.id, second.lease.id) == (lease["id"], lease["id"])
        assert first.document["reservations"] != second.document["reservations"]
        assert recorder.told == [
            (Occasion.ABORT, recorder.keys[0]),
            (Occasion.COMMIT, recorder.keys[1]),
        ]


class Broken(Filter):
    """Filter that allows every lease and raises in all other methods."""

    def wants(self, occasion: Occasion, project_id: str | None) -> bool:
        raise RuntimeError("a bug")

    def deliver(self, occasion: Occasion, document: JsonObject, key: str) -> None:
        raise KeyError("another bug")


@pytest.mark.usefixtures("hosts")
class TestBrokenFilters:
    def test_a_lease_ends_though_a_filter_raises_whatever_it_is_asked(
        self, env: HttpEnv, failures: list[str]
    ) -> None:
        with_filters(env, Broken())
        lease = env.create("now", 60)
        env.work()

        env.pass_time(61)

        assert env.status(lease) == "TERMINATED"
        failures.clear()

    @pytest.mark.parametrize("start", [60, "now"])
    def test_a_lease_can_be_deleted_though_a_filter_raises(
        self, env: HttpEnv, failures: list[str], start: int | str
    ) -> None:
        with_filters(env, Broken())
        lease = env.create(start, 120)
        env.work()

        env.delete(f"/leases/{lease['id']}")
        env.work()

        assert env.get(f"/leases/{lease['id']}").status_code == 404
        failures.clear()

    def test_a_lease_ends_though_its_document_cannot_be_made(self, env: HttpEnv, failures: list[str]) -> None:
        recorder = Recorder([], "a", listens=True)
        with_filters(env, recorder)
        lease = env.create(60, 120)
        with env.engine.begin() as connection:
            connection.execute(sa.update(tables.hosts).values(created_at=None, cpu_info=""))
            connection.execute(sa.update(tables.reservations).values(resource_type="gone"))

        env.delete(f"/leases/{lease['id']}")
        env.work()

        assert [occasion for occasion, _ in recorder.told] == [Occasion.COMMIT, Occasion.ON_END]
        failures.clear()


def test_a_document_too_long_for_the_database_is_shortened() -> None:
    hosts = [{"id": str(number), "cpu_info": "x" * 100} for number in range(100)]
    document = {"id": "lease", "reservations": [{"id": "reservation", "allocations": hosts}]}

    assert fitting(document) == document
    assert fitting(document, 5000)["reservations"] == [
        {"id": "reservation", "allocations": [{"id": each["id"]} for each in hosts]}
    ]
    assert fitting(document, 500)["reservations"] == [{"id": "reservation", "allocations": []}]


@pytest.mark.usefixtures("hosts")
class TestMaxLeaseDuration:
    @pytest.fixture(autouse=True)
    def limit(self, env: HttpEnv) -> None:
        with_filters(env, MaxLeaseDuration(HOUR, frozenset({"research"})))

    def test_a_lease_may_last_just_so_long(self, env: HttpEnv) -> None:
        env.create(60, 120)

        message = refusal(env.post("/leases", env.wish(60, 121)), 403)

        assert message.startswith("end_date: ")
        assert "3660" in message
        assert "3600" in message

    def test_a_running_lease_is_extended_up_to_its_start_plus_that(self, env: HttpEnv) -> None:
        lease = env.create("now", 30)
        env.work()

        assert env.change(lease, end_date=env.date(60))["end_date"] == env.shown(60)
        message = refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(61)}), 400)

        assert message.startswith("end_date: ")
        assert env.status(lease) == "ACTIVE"

    def test_projects_may_be_exempt(self, env: HttpEnv) -> None:
        rich = replace(ADMIN, project="research")

        lease = lease_of(env.post("/leases", env.wish(60, 999), who=rich), 201)

        assert lease["end_date"] == env.shown(999)

    def test_a_lease_that_is_too_long_already_may_become_shorter(self, env: HttpEnv) -> None:
        with_filters(env)
        lease = env.create(60, 300)
        with_filters(env, MaxLeaseDuration(HOUR, frozenset()))

        refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(301)}), 400)

        assert env.change(lease, end_date=env.date(240))["end_date"] == env.shown(240)


def test_without_a_limit_any_lease_is_fine(env: HttpEnv) -> None:
    env.register("h1")
    with_filters(env, MaxLeaseDuration(None, frozenset()))

    env.create(0, 60 * 24 * 365)
