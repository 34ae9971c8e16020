"""The cost of a lease in a dry run, from an external service and from other filters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good
from app.usage import Oracle, ask_service, external, new_credits, serving

from blazar.enforcement.base import Filter
from blazar.ports.enforcement import Cost, LeaseUsage

pytestmark = pytest.mark.usefixtures("hosts")


@pytest.fixture
def oracle() -> Oracle:
    return Oracle()


@pytest.fixture
def url(oracle: Oracle) -> Iterator[str]:
    with serving(oracle) as found:
        yield found


def preview(env: HttpEnv, path: str = "/leases", body: Json | None = None, method: str = "POST") -> Json:
    """Return what a dry run of a request answers."""
    ask = env.post if method == "POST" else env.put
    answer = ask(f"{path}?dry_run=true", body or env.wish(60, 120), who=LESSEE, headers=NEWER)
    found: Json = good(answer)["preview"]
    return found


def test_a_dry_run_tells_the_cost(env: HttpEnv, oracle: Oracle, url: str) -> None:
    oracle.answer_to["estimate-cost"] = (200, b'{"amount": 12.50, "unit": "SU", "more": 1}')
    env.restart(replace(env.context, filters={"first": external(url), "second": Silent()}))

    costs = preview(env)["costs"]

    assert costs == [{"filter": "first", "amount": "12.5", "unit": "SU"}]
    asked = next(each for each in oracle.asked if each.call == "estimate-cost")
    assert asked.body["lease"]["reservations"][0]["allocations"]
    assert asked.key == ""


def test_the_cost_of_a_change_is_that_of_the_whole_lease(env: HttpEnv) -> None:
    ledger, application = new_credits(env.clock.now)
    ledger.grant("project", 10)
    with serving(application) as url:
        ask_service(env, url)
        lease = env.create(60, 180)
        path = f"/leases/{lease['id']}"

        longer = preview(env, path, {"end_date": env.date(300)}, "PUT")["costs"]
        renamed = preview(env, path, {"name": "new"}, "PUT")["costs"]
        env.work()

        assert [(each["amount"], each["unit"]) for each in longer] == [("4", "credits")]
        assert renamed == []
        assert ledger.left("project") == 8


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (204, b""),
        (200, b""),
        (200, b"[]"),
        (200, b'{"amount": 1}'),
        (200, b'{"amount": "1", "unit": "SU"}'),
        (200, b'{"amount": NaN, "unit": "SU"}'),
        (200, b'{"amount": 1e999, "unit": "SU"}'),
        (200, b'{"amount": 1, "unit": ""}'),
        (200, b'{"amount": 1, "unit": "' + b"x" * 33 + b'"}'),
        (403, b'{"message": "no"}'),
        (500, b""),
    ],
)
def test_without_a_cost_a_dry_run_still_answers(
    env: HttpEnv, oracle: Oracle, url: str, status: int, answer: bytes
) -> None:
    ask_service(env, url)
    oracle.answer_to["estimate-cost"] = (status, answer)

    assert preview(env)["costs"] == []


def test_a_cost_is_only_asked_in_a_dry_run(env: HttpEnv, oracle: Oracle, url: str) -> None:
    ask_service(env, url)

    env.create(60, 120)

    assert "estimate-cost" not in oracle.calls


def test_filters_that_fail_or_have_no_cost_are_left_out(env: HttpEnv, failures: list[str]) -> None:
    env.restart(replace(env.context, filters={"broken": BrokenCost(), "plain": Silent()}))

    assert preview(env)["costs"] == []
    assert "a filter failed to return the cost of a lease: filter=broken" in failures.pop()


class Silent(Filter):
    """A filter without an opinion."""


class BrokenCost(Filter):
    def cost_of(self, usage: LeaseUsage) -> Cost | None:
        raise ValueError("broken")
