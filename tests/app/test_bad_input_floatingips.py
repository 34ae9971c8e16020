"""Malformed input for floating IPs: a 4xx names the key, and nothing changes."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from app.conftest import without_failures
from app.floatingips import address, make_pool
from app.stage import ODD, ODD_IDS, check_refusal
from app.world import LESSEE, Json, World
from databases import make_database
from hypothesis import given, settings
from hypothesis import strategies as st

KEYS = ("network_id", "amount", "required_floatingips")
FINE: dict[str, set[str]] = {"amount": {"zero"}, "required_floatingips": {"null", "empty-list"}}
FINE_IN_A_CHANGE: dict[str, set[str]] = {"required_floatingips": {"empty-list"}, "amount": {"zero"}}


class Stage:
    """Three registered addresses, a pending lease and a running lease of one address each."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.pool = make_pool(world)
        self.ids = self.pool.register(1, 2, 3)
        self.leases = {
            name: world.create(start, 600, asked=self.pool.asked(1, number))
            for name, start, number in (("running", "now", 1), ("ahead", 120, 2))
        }
        world.work()
        assert {world.status(each) for each in self.leases.values()} == {"ACTIVE", "PENDING"}

    def check_refused(self, method: str, path: str, body: object, key: str) -> None:
        """Check that a request is refused with the key's name and that nothing has changed."""
        before = self.world.snapshot()
        check_refusal(self.world.ask(method, path, json=body), key)
        assert self.world.snapshot() == before


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Return a stage shared by all tests; each test leaves it unchanged."""
    folder = tmp_path_factory.mktemp("stage")
    with make_database("sqlite", folder) as engine, without_failures():
        yield Stage(World(engine, folder))


def bad(*keys: str, fine: dict[str, set[str]] | None = None) -> list[Any]:
    return [
        pytest.param(key, value, id=f"{key}-{name}")
        for key, (name, value) in itertools.product(keys, ODD.items())
        if name not in (fine or {}).get(key, ())
    ]


@pytest.mark.parametrize(("key", "value"), bad("floating_network_id", "floating_ip_address"))
def test_what_is_no_address_of_a_network_is_not_registered(stage: Stage, key: str, value: object) -> None:
    stage.check_refused("POST", "/floatingips", {**stage.pool.registration(4), key: value}, key)


@pytest.mark.parametrize(("key", "value"), bad(*KEYS, fine=FINE))
def test_what_no_reservation_can_ask_for_is_refused(stage: Stage, key: str, value: object) -> None:
    stage.check_refused("POST", "/leases", stage.world.wish(asked=stage.pool.asked(**{key: value})), key)


@pytest.mark.parametrize(("key", "value"), bad("required_floatingips"))
def test_what_is_no_address_is_not_required(stage: Stage, key: str, value: object) -> None:
    body = stage.world.wish(asked=stage.pool.asked(), required_floatingips=[address(3), value])

    stage.check_refused("POST", "/leases", body, key)


@pytest.mark.parametrize("name", ["running", "ahead"])
@pytest.mark.parametrize(("key", "value"), bad(*KEYS, fine=FINE_IN_A_CHANGE))
def test_what_no_reservation_can_become_is_refused(stage: Stage, name: str, key: str, value: object) -> None:
    lease = stage.leases[name]
    body = {"reservations": [{"id": lease["reservations"][0]["id"], key: value}]}

    stage.check_refused("PUT", f"/leases/{lease['id']}", body, key)


@pytest.mark.parametrize("floatingip_id", ODD_IDS.values(), ids=ODD_IDS.keys())
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_ids_of_nothing_find_nothing(stage: Stage, method: str, floatingip_id: str) -> None:
    before = stage.world.snapshot()

    assert stage.world.ask(method, f"/floatingips/{floatingip_id}").status_code in (400, 404)
    assert stage.world.snapshot() == before


WORDS = (
    *("network_id", "amount", "required_floatingips", "floating_network_id", "floating_ip_address"),
    *("203.0.113.204", "203.0.113.50", "203.0.113.203", "2001:db8::1", "::", "0.0.0.0", "1", "0"),
)
VALUES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from([value for name, value in ODD.items() if name != "mebibyte"]),
    st.integers(-3, 6),
    st.ip_addresses().map(str),
    st.lists(st.sampled_from(WORDS) | st.ip_addresses().map(str), max_size=3),
    st.text(max_size=8),
).map(copy.deepcopy)


def test_registrations_of_any_shape(stage: Stage) -> None:
    @settings(max_examples=80, deadline=None)
    @given(st.dictionaries(st.sampled_from(("floating_network_id", "floating_ip_address", "id")), VALUES))
    def play(changes: Json) -> None:
        answer = stage.world.post("/floatingips", {**stage.pool.registration(4), **changes})
        assert answer.status_code < 500, (changes, answer.text)
        if answer.status_code == 201:
            floatingip_id = answer.json["floatingip"]["id"]
            assert stage.world.delete(f"/floatingips/{floatingip_id}").status_code == 204

    play()
    assert len(stage.world.get("/floatingips").json["floatingips"]) == 3


def test_reservations_of_any_shape(stage: Stage) -> None:
    @settings(max_examples=120, deadline=None)
    @given(st.dictionaries(st.sampled_from(KEYS), VALUES))
    def play(changes: Json) -> None:
        body = stage.world.wish(200, 300, asked={**stage.pool.asked(), **changes})
        answer = stage.world.post("/leases", body, who=LESSEE)
        assert answer.status_code < 500, (changes, answer.text)
        if answer.status_code == 201:
            assert stage.world.delete(f"/leases/{answer.json['lease']['id']}").status_code == 204

    play()
    assert len(stage.world.get("/leases").json["leases"]) == 2
