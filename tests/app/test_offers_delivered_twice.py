"""The broker may deliver a request about an offer to two managers: it takes effect once, with one answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from app.http_env import HttpEnv, Json

from blazar.app.offers import commit_offer, create_lease_offer, create_offer
from blazar.booking.context import Context, new_uuid
from blazar.domain.errors import OfferCommitted
from blazar.ports.manager import Caller


@pytest.fixture
def body(env: HttpEnv) -> Json:
    env.register("h1", "h2")
    return env.wish(100, 200)


@pytest.fixture
def context(env: HttpEnv) -> Context:
    """Return the context of a manager: the ids of requests determine those of offers."""
    return replace(env.context, new_id=new_uuid)


def caller(request_id: str) -> Caller:
    return Caller(user_id="user", project_id="project", request_id=request_id, api_version=(1, 1))


def test_an_offer_is_made_once(context: Context, body: Json) -> None:
    first, second = (create_offer(context, caller("req-1"), body) for _ in range(2))

    assert first == second
    assert create_offer(context, caller("req-2"), body)["id"] != first["id"]


def test_an_offer_is_committed_once(context: Context, body: Json) -> None:
    offer = create_offer(context, caller("req-1"), body)
    asked = {"offer_id": offer["id"]}

    first, second = (commit_offer(context, caller("req-2"), asked) for _ in range(2))

    assert first["id"] == second["id"] == offer["id"]
    with pytest.raises(OfferCommitted):
        commit_offer(context, caller("req-3"), asked)


def test_an_offer_for_a_change_is_made_once(env: HttpEnv, context: Context, body: Json) -> None:
    offer = create_offer(context, caller("req-1"), body)
    lease = commit_offer(context, caller("req-2"), {"offer_id": offer["id"]})
    asked = {"end_date": env.date(300)}

    first, second = (create_lease_offer(context, caller("req-3"), str(lease["id"]), asked) for _ in range(2))

    assert first == second
