"""Enforcement by an operator's external service: the protocol over real HTTP, and the example service."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from app.floatingips import Pool, address
from app.http_env import LESSEE, HttpEnv, lease_of, refusal
from app.slots import instances
from app.usage import Oracle, ask_service, new_credits, serving
from trickling import HABITS, trickling

from blazar.domain.errors import UsageDenied
from blazar.enforcement.base import Filter
from blazar.ports.enforcement import LeaseUsage

pytestmark = pytest.mark.usefixtures("hosts")


@pytest.fixture
def oracle() -> Oracle:
    return Oracle()


@pytest.fixture
def url(oracle: Oracle) -> Iterator[str]:
    with serving(oracle) as found:
        yield found


class TestWhatIsAsked:
    def test_a_create(self, env: HttpEnv, oracle: Oracle, url: str) -> None:
        ask_service(env, url)

        lease = env.create(60, 120, min=2, max=2)

        (asked,) = (each for each in oracle.asked if each.call == "check-create")
        assert asked.body["context"] == {
            "user_id": "user",
            "project_id": "project",
            "auth_url": "http://keystone.example/v3",
            "region_name": "RegionOne",
        }
        sent = asked.body["lease"]
        assert sent["id"] == lease["id"]
        assert (sent["name"], sent["status"]) == ("night", "CREATING")
        assert (sent["start_date"], sent["end_date"]) == ("2031-01-01T01:00:00", "2031-01-01T02:00:00")
        (reservation,) = sent["reservations"]
        assert reservation["id"] == lease["reservations"][0]["id"]
        assert (reservation["resource_type"], reservation["min"]) == ("physical:host", 2)
        hosts = {each["id"]: each for each in reservation["allocations"]}
        assert hosts.keys() == env.booked(lease)
        assert all(each["rack"] and each["vcpus"] and "trust_id" not in each for each in hosts.values())
        assert asked.headers["HTTP_X_AUTH_TOKEN"] == "key to the service"
        assert "HTTP_AUTHORIZATION" not in asked.headers

    def test_a_change(self, env: HttpEnv, oracle: Oracle, url: str) -> None:
        lease = env.create(60, 120)
        ask_service(env, url)

        env.change(lease, end_date=env.date(180), reservation={"min": 1, "max": 2})

        (asked,) = (each for each in oracle.asked if each.call == "check-update")
        before, after = asked.body["current_lease"], asked.body["lease"]
        assert (before["id"], after["id"]) == (lease["id"], lease["id"])
        assert (before["end_date"], after["end_date"]) == ("2031-01-01T02:00:00", "2031-01-01T03:00:00")
        assert [len(each["reservations"][0]["allocations"]) for each in (before, after)] == [1, 2]
        assert {each["event_type"] for each in before["events"]} >= {"start_lease", "end_lease"}

    def test_each_host_is_listed_once_for_each_of_its_slots(
        self, env: HttpEnv, oracle: Oracle, url: str
    ) -> None:
        ask_service(env, url)

        env.create(60, 120, asked=instances(amount=3))

        (reservation,) = oracle.asked[0].body["lease"]["reservations"]
        hosts = [each["id"] for each in reservation["allocations"]]
        assert (len(hosts), len(set(hosts))) == (3, 1)

    def test_floating_ips_are_among_them(self, env: HttpEnv, pool: Pool, oracle: Oracle, url: str) -> None:
        (registered,) = pool.register(1)
        ask_service(env, url)

        env.create(60, 120, asked=pool.asked(1))

        (reservation,) = oracle.asked[0].body["lease"]["reservations"]
        (allocated,) = reservation["allocations"]
        assert (allocated["id"], allocated["floating_ip_address"]) == (registered, address(1))

    def test_required_addresses_are_a_list_of_texts(
        self, env: HttpEnv, pool: Pool, oracle: Oracle, url: str
    ) -> None:
        pool.register(1)
        ask_service(env, url)

        env.create(60, 120, asked=pool.asked(1, 1))

        (reservation,) = oracle.asked[0].body["lease"]["reservations"]
        assert reservation["required_floatingips"] == [address(1)]

    def test_a_capability_with_the_name_of_a_date_is_shown_as_it_is(
        self, env: HttpEnv, oracle: Oracle, url: str
    ) -> None:
        shown = {"time": "2031-01-01T00:00:00+02:00", "start_date": "last spring"}
        env.register("h9", rack="r9", **shown)
        ask_service(env, url)

        env.create(60, 120, resource_properties='["==", "$rack", "r9"]')

        (reservation,) = oracle.asked[0].body["lease"]["reservations"]
        (host,) = reservation["allocations"]
        assert {key: host[key] for key in shown} == shown

    def test_what_was_allowed_and_stored_is_confirmed(self, env: HttpEnv, oracle: Oracle, url: str) -> None:
        ask_service(env, url)

        lease = env.create(60, 120)
        env.work()

        assert oracle.calls == ["check-create", "commit"]
        check, commit = oracle.asked
        assert commit.key == check.key
        assert commit.body["lease"]["id"] == lease["id"]

    def test_who_is_exempt_is_neither_asked_about_nor_told_of(
        self, env: HttpEnv, oracle: Oracle, url: str
    ) -> None:
        ask_service(env, url, exempt_project_ids=frozenset({"project"}))
        oracle.status = 403

        lease = env.create(60, 120)
        env.change(lease, end_date=env.date(180))
        env.delete(f"/leases/{lease['id']}")
        env.work()

        assert oracle.asked == []

    def test_a_call_without_a_url_allows_everything(self, env: HttpEnv, oracle: Oracle, url: str) -> None:
        oracle.status = 403
        ask_service(env, url, urls={"check-update": url + "check-update"})

        lease = env.create(60, 120)

        refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(180)}), 400)
        assert oracle.calls == ["check-update"]


class TestAnswers:
    def test_a_reason_is_passed_on(self, env: HttpEnv, oracle: Oracle, url: str) -> None:
        ask_service(env, url)
        oracle.status, oracle.answer = 403, b'{"message": "too few credits"}'
        before = env.snapshot()

        assert refusal(env.post("/leases", env.wish(60, 120)), 400) == "too few credits"
        assert env.snapshot() == before

    @pytest.mark.parametrize(
        ("status", "answer"),
        [
            (403, b""),
            (403, b"<html>"),
            (403, b"[]"),
            (403, b'{"message": 7}'),
            (200, b'{"message": "yes"}'),
            (201, b""),
            (302, b""),
            (401, b""),
            (404, b""),
            (500, b""),
        ],
    )
    def test_whatever_is_no_yes_is_a_no(
        self, env: HttpEnv, oracle: Oracle, url: str, status: int, answer: bytes
    ) -> None:
        lease = env.create(300, 360)
        ask_service(env, url)
        oracle.status, oracle.answer = status, answer
        before = env.snapshot()

        created = refusal(env.post("/leases", env.wish(60, 120)), 400)
        changed = refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(400)}), 400)

        expected = "does not allow this" if status == 403 else f"answered with status {status}"
        assert created == changed
        assert expected in created
        assert env.snapshot() == before

    def test_an_error_may_mean_yes(self, env: HttpEnv, oracle: Oracle, url: str) -> None:
        ask_service(env, url, allow_on_error=True)
        oracle.status = 500
        env.create(60, 120)

        oracle.status = 403
        refusal(env.post("/leases", env.wish(60, 120)), 400)


class TestNoAnswer:
    @pytest.fixture
    def silent(self) -> Iterator[str]:
        """Yield the URL of a service that accepts connections and never answers."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"

    def test_weakness_38_a_service_that_never_answers_blocks_no_other_request(
        self, env: HttpEnv, silent: str
    ) -> None:
        lease = env.create("now", 60)
        env.work()
        ask_service(env, silent, timeout_seconds=0.2)
        before = env.snapshot()

        message = refusal(env.post("/leases", env.wish(90, 120)), 503)
        refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(70)}), 503)
        assert "enforcement service cannot be reached" in message
        assert env.snapshot() == before

        env.pass_time(61)
        assert env.status(lease) == "TERMINATED"

    @pytest.mark.parametrize("habit", HABITS)
    def test_a_service_whose_answer_never_ends_blocks_no_request(self, env: HttpEnv, habit: bytes) -> None:
        with trickling(habit) as slow:
            ask_service(env, slow, timeout_seconds=0.2)

            message = refusal(env.post("/leases", env.wish(90, 120)), 503)

        assert "enforcement service cannot be reached" in message

    def test_an_endless_answer_is_not_read_to_its_end(self, env: HttpEnv, oracle: Oracle, url: str) -> None:
        ask_service(env, url)
        oracle.status, oracle.answer = 403, b'{"message": "' + b"x" * 10_000_000 + b'"}'

        message = refusal(env.post("/leases", env.wish(90, 120)), 400)

        assert message == "The usage enforcement service does not allow this"

    def test_a_missing_ca_file_is_no_answer(self, env: HttpEnv, url: str) -> None:
        ask_service(env, url.replace("http:", "https:"), verify="/there/is/none")

        refusal(env.post("/leases", env.wish(90, 120)), 503)

    def test_it_may_mean_yes(self, env: HttpEnv, silent: str) -> None:
        ask_service(env, silent, timeout_seconds=0.2, allow_on_error=True)

        env.create(60, 120)

    def test_a_service_that_does_not_run(self, env: HttpEnv, url: str) -> None:
        with serving(Oracle()) as gone:
            pass
        ask_service(env, gone)

        refusal(env.post("/leases", env.wish(60, 120)), 503)


class TestTheEnd:
    def test_it_is_told_once_for_a_lease_that_ends(self, env: HttpEnv, oracle: Oracle, url: str) -> None:
        lease = env.create("now", 60, min=2, max=2)
        env.work()
        ask_service(env, url)

        env.pass_time(61)
        env.delete(f"/leases/{lease['id']}")
        env.work()

        assert oracle.calls == ["on-end"]
        (asked,) = oracle.asked
        assert asked.body["lease"]["id"] == lease["id"]
        assert asked.body["context"]["project_id"] == LESSEE.project
        assert len(asked.body["lease"]["reservations"][0]["allocations"]) == 2

    @pytest.mark.parametrize("start", [60, "now"])
    def test_it_is_told_once_for_a_lease_that_is_deleted(
        self, env: HttpEnv, oracle: Oracle, url: str, start: int | str
    ) -> None:
        lease = env.create(start, 120)
        env.work()
        ask_service(env, url)

        for _ in range(2):
            env.delete(f"/leases/{lease['id']}")
            env.work()

        assert oracle.calls == ["on-end"]
        document = oracle.asked[0].body["lease"]
        assert document["status"] == "DELETING"
        assert len(document["reservations"][0]["allocations"]) == 1

    def test_it_is_told_until_it_is_heard_always_under_the_same_key(
        self, env: HttpEnv, oracle: Oracle, url: str
    ) -> None:
        lease = env.create("now", 60)
        env.work()
        ask_service(env, url)
        oracle.status = 500

        env.pass_time(65)
        assert env.status(lease) == "TERMINATED"
        oracle.status = 204
        env.pass_time(80)
        told = len(oracle.asked)
        env.pass_time(100)

        assert told > 1
        assert len(oracle.asked) == told
        assert len({each.key for each in oracle.asked}) == 1

    def test_a_filter_that_is_enabled_no_more_is_not_told(self, env: HttpEnv, url: str) -> None:
        lease = env.create("now", 60)
        env.work()
        ask_service(env, url)
        with env.context.store.begin() as transaction:
            assert transaction.leases.find(lease["id"])
        env.delete(f"/leases/{lease['id']}")
        env.restart(replace(env.context, filters={}))

        env.work()

        with env.context.store.begin() as transaction:
            assert transaction.outbox.take(env.clock.now(), env.clock.now(), 9) == ()


class NoToAll(Filter):
    """Filter that refuses every lease, after earlier filters have allowed it."""

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        raise UsageDenied("no")


class TestCredits:
    """The example in ``examples/credits``."""

    def test_what_is_used_is_paid_and_the_rest_comes_back(self, env: HttpEnv) -> None:
        ledger, application = new_credits(env.clock.now)
        ledger.grant("project", 10)
        with serving(application) as url:
            ask_service(env, url)
            lease = env.create("now", 180, min=2, max=2)
            env.work()
            assert ledger.left("project") == 4

            message = refusal(env.post("/leases", env.wish(240, 540), who=LESSEE), 400)
            assert message == "The lease costs 5 credits, and the project has 4 left"

            env.change(lease, end_date=env.date(240))
            env.work()
            assert ledger.left("project") == 2
            refusal(env.put(f"/leases/{lease['id']}", {"end_date": env.date(400)}, who=LESSEE), 400)

            env.pass_time(60)
            env.delete(f"/leases/{lease['id']}")
            env.work()

        assert ledger.left("project") == pytest.approx(8)

    def test_what_was_allowed_and_not_stored_costs_nothing(self, env: HttpEnv) -> None:
        ledger, application = new_credits(env.clock.now)
        ledger.grant("project", 1)

        with serving(application) as url:
            ask_service(env, url)
            rules = {**env.context.filters, "no": NoToAll()}
            env.restart(replace(env.context, filters=rules))
            refusal(env.post("/leases", env.wish(60, 120), who=LESSEE), 400)
            env.work()
            assert ledger.left("project") == 1

            ask_service(env, url)
            lease_of(env.post("/leases", env.wish(60, 120), who=LESSEE), 201)
