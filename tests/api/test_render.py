"""Representation of leases in responses, one or several."""

from __future__ import annotations

from copy import deepcopy

import pytest
from api.fake_manager import lease

from blazar.api import render
from blazar.domain.shown import shown_lease


def test_one_lease_is_shown_without_a_change_of_what_was_given() -> None:
    given = lease("l1")
    before = deepcopy(given)

    shown = shown_lease(given)

    assert given == before
    assert (shown["start_date"], given["start_date"]) == (
        "2031-04-05T20:00:00.000000",
        "2031-04-05T20:00:00+00:00",
    )


def test_a_list_shows_each_lease_as_if_it_were_asked_for_alone() -> None:
    values = [lease("l1"), lease("l2", "p2")]

    assert render.leases(deepcopy(values)) == [render.lease(each) for each in values]


@pytest.mark.parametrize("key", ["start_date", "end_date", "reservations", "events"])
def test_a_lease_that_lacks_something_is_not_shown(key: str) -> None:
    value = {name: part for name, part in lease("l1").items() if name != key}

    with pytest.raises(KeyError):
        render.leases([value])
