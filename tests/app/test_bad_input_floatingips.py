"""Malformed input for floating IPs: a 4xx names the key, and nothing changes."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from app.conftest import without_failures
from app.floatingips import address, make_pool
from app.http_env import LESSEE, HttpEnv, Json
from app.prepared_env import ODD, ODD_IDS, check_refusal
from databases import make_database
from hypothesis import given, settings
from hypothesis import strategies as st

KEYS = ("network_id", "amount", "required_floatingips")
FINE: dict[str, set[str]] = {"amount": {"zero"}, "required_floatingips": {"null", "empty-list"}}
FINE_IN_A_CHANGE: dict[str, set[str]] = {"required_floatingips": {"empty-list"}, "amount": {"zero"}}


class PreparedFloatingIPs:
    """Three registered addresses, a pending lease and a running lease of one address each."""

    def __init__(self, env: HttpEnv) -> None:
        self.env = env
        self.pool = make_pool(env)
        self.ids = self.pool.register(1, 2, 3)
        self.leases = {
            name: env.create(start, 600, asked=self.pool.asked(1, number))
            for name, start, number in (("running", "now", 1), ("ahead", 120, 2))
        }
        env.work()
        assert {env.status(each) for each in self.leases.values()} == {"ACTIVE", "PENDING"}

    def check_refused(self, method: str, path: str, body: object, key: str) -> None:
        """Check that a request is refused with the key's name and that nothing has changed."""
        before = self.env.snapshot()
        check_refusal(self.env.ask(method, path, json=body), key)
        assert self.env.snapshot() == before


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PreparedFloatingIPs]:
    """Return an environment shared by all tests; each test leaves it unchanged."""
    folder = tmp_path_factory.mktemp("prepared")
    with make_database("sqlite", folder) as engine, without_failures():
        yield PreparedFloatingIPs(HttpEnv(engine, folder))


def bad(*keys: str, fine: dict[str, set[str]] | None = None) -> list[Any]:
    return [
        pytest.param(key, value, id=f"{key}-{name}")
        for key, (name, value) in itertools.product(keys, ODD.items())
        if name not in (fine or {}).get(key, ())
    ]


@pytest.mark.parametrize(("key", "value"), bad("floating_network_id", "floating_ip_address"))
def test_what_is_no_address_of_a_network_is_not_registered(
    prepared: PreparedFloatingIPs, key: str, value: object
) -> None:
    prepared.check_refused("POST", "/floatingips", {**prepared.pool.registration(4), key: value}, key)


@pytest.mark.parametrize(("key", "value"), bad(*KEYS, fine=FINE))
def test_what_no_reservation_can_ask_for_is_refused(
    prepared: PreparedFloatingIPs, key: str, value: object
) -> None:
    prepared.check_refused(
        "POST", "/leases", prepared.env.wish(asked=prepared.pool.asked(**{key: value})), key
    )


@pytest.mark.parametrize(("key", "value"), bad("required_floatingips"))
def test_what_is_no_address_is_not_required(prepared: PreparedFloatingIPs, key: str, value: object) -> None:
    body = prepared.env.wish(asked=prepared.pool.asked(), required_floatingips=[address(3), value])

    prepared.check_refused("POST", "/leases", body, key)


@pytest.mark.parametrize("name", ["running", "ahead"])
@pytest.mark.parametrize(("key", "value"), bad(*KEYS, fine=FINE_IN_A_CHANGE))
def test_what_no_reservation_can_become_is_refused(
    prepared: PreparedFloatingIPs, name: str, key: str, value: object
) -> None:
    lease = prepared.leases[name]
    body = {"reservations": [{"id": lease["reservations"][0]["id"], key: value}]}

    prepared.check_refused("PUT", f"/leases/{lease['id']}", body, key)


@pytest.mark.parametrize("floatingip_id", ODD_IDS.values(), ids=ODD_IDS.keys())
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_ids_of_nothing_find_nothing(prepared: PreparedFloatingIPs, method: str, floatingip_id: str) -> None:
    before = prepared.env.snapshot()

    assert prepared.env.ask(method, f"/floatingips/{floatingip_id}").status_code in (400, 404)
    assert prepared.env.snapshot() == before


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


def test_registrations_of_any_shape(prepared: PreparedFloatingIPs) -> None:
    @settings(max_examples=80, deadline=None)
    @given(st.dictionaries(st.sampled_from(("floating_network_id", "floating_ip_address", "id")), VALUES))
    def play(changes: Json) -> None:
        answer = prepared.env.post("/floatingips", {**prepared.pool.registration(4), **changes})
        assert answer.status_code < 500, (changes, answer.text)
        if answer.status_code == 201:
            floatingip_id = answer.json["floatingip"]["id"]
            assert prepared.env.delete(f"/floatingips/{floatingip_id}").status_code == 204

    play()
    assert len(prepared.env.get("/floatingips").json["floatingips"]) == 3


def test_reservations_of_any_shape(prepared: PreparedFloatingIPs) -> None:
    @settings(max_examples=120, deadline=None)
    @given(st.dictionaries(st.sampled_from(KEYS), VALUES))
    def play(changes: Json) -> None:
        body = prepared.env.wish(200, 300, asked={**prepared.pool.asked(), **changes})
        answer = prepared.env.post("/leases", body, who=LESSEE)
        assert answer.status_code < 500, (changes, answer.text)
        if answer.status_code == 201:
            assert prepared.env.delete(f"/leases/{answer.json['lease']['id']}").status_code == 204

    play()
    assert len(prepared.env.get("/leases").json["leases"]) == 2
