"""Requests for licences, and the choice of pools."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from blazar.domain.availability import Availability
from blazar.domain.capacity import Share
from blazar.domain.errors import CannotChange, InvalidParameter, MissingParameter, NotEnoughResources
from blazar.domain.health import Diagnosis, Health
from blazar.domain.interval import Interval
from blazar.domain.plugin_resources import PluginResource
from blazar.plugins.contract import Wish
from blazar_licences.choice import SEAT, SEATS, choose_seats
from blazar_licences.spec import LicenceSpec, decode_spec, encode_spec, parse_spec, revise_spec

START = datetime(2031, 1, 1, tzinfo=UTC)


def pool(name: str, seats: int, product: str = "cad", **fields: Any) -> PluginResource:
    facts = {"pool": name, "product": product}
    return PluginResource(collection="licence", name=name, facts=facts, amounts={SEATS: seats}, **fields)


SITE, SPARE = pool("site", 10), pool("spare", 5)


def chosen(
    seats: int, *pools: PluginResource, held: dict[str, int] | None = None, **wishes: Any
) -> dict[str, int]:
    """Return the chosen number of seats by pool."""
    pools = pools or (SITE, SPARE, pool("office", 3, "writer"))
    availability = Availability()
    for each in pools:
        availability.put(each.as_resource(), ())
    shares = {
        each.id: Share(slots=held[each.name], demand=SEAT) for each in pools if held and each.name in held
    }
    spec = LicenceSpec(product="cad", seats=seats)
    wish = Wish(spec=spec, window=_window(), now=START, held=shares, **wishes)
    names = {each.id: each.name for each in pools}
    return {names[key]: each.slots for key, each in choose_seats(wish, availability).items() if each}


def _window() -> Interval:
    return Interval(START, START + timedelta(hours=1))


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "product, seats"),
        ({"product": "cad"}, "seats"),
        ({"product": "", "seats": 1}, "product"),
        ({"product": 7, "seats": 1}, "product"),
        ({"product": "cad", "seats": 0}, "seats"),
        ({"product": "cad", "seats": 1.5}, "seats"),
    ],
)
def test_what_is_wrong_is_named(body: dict[str, object], key: str) -> None:
    with pytest.raises((MissingParameter, InvalidParameter), match=key):
        parse_spec(body)


def test_the_product_is_fixed_and_the_seats_are_not() -> None:
    spec = LicenceSpec(product="cad", seats=2, grants=("blazar:x:site",))

    assert revise_spec(spec, {"seats": "3", "product": "cad"}) == LicenceSpec(
        product="cad", seats=3, grants=spec.grants
    )
    with pytest.raises(InvalidParameter, match="product"):
        revise_spec(spec, {"product": "writer"})
    assert decode_spec(encode_spec(spec)) == spec


def test_small_pools_are_used_first_and_several_together() -> None:
    assert chosen(3) == {"spare": 3}
    assert chosen(7) == {"spare": 5, "site": 2}
    assert chosen(15) == {"spare": 5, "site": 10}


def test_what_is_lacking_is_said() -> None:
    with pytest.raises(
        NotEnoughResources, match=r"16 asked for \(seats\), 15 of cad are free from 2031-01-01 00:00"
    ):
        chosen(16)


def test_what_is_held_stays_where_it_is() -> None:
    assert chosen(4, held={"site": 4}) == {"site": 4}
    assert chosen(6, held={"site": 4}) == {"site": 6}
    assert chosen(12, held={"site": 4}) == {"site": 10, "spare": 2}


def test_seats_in_use_stay_when_an_active_reservation_shrinks() -> None:
    held = {"site": 4, "spare": 4}

    def shrunk(seats: int, site: int, spare: int) -> dict[str, int]:
        return chosen(seats, held=held, is_active=True, in_use={SITE.id: site, SPARE.id: spare})

    assert shrunk(4, site=4, spare=0) == {"site": 4}
    assert shrunk(4, site=0, spare=4) == {"spare": 4}
    with pytest.raises(CannotChange, match="seats: 5"):
        shrunk(4, site=3, spare=2)


def test_a_closed_pool_keeps_its_reservations_and_accepts_no_others() -> None:
    closed = pool("spare", 5, diagnosis=Diagnosis(health=Health.DISABLED, problem="audit"))

    assert chosen(3, SITE, closed) == {"site": 3}
    assert chosen(3, SITE, closed, held={"spare": 2}) == {"spare": 2, "site": 1}


def test_nothing_comes_from_what_is_excluded() -> None:
    assert chosen(3, excluded=frozenset({SPARE.id})) == {"site": 3}
    assert chosen(3, held={"spare": 2}, excluded=frozenset({SPARE.id})) == {"site": 3}
