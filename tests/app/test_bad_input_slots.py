"""Malformed input for reservations of instances: a 4xx names the key, and nothing changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from app.conftest import without_failures
from app.http_env import LESSEE, HttpEnv, Json
from app.prepared_env import ODD, check_refusal
from app.slots import FLAVOR, instances, of_flavor, reservation_of
from databases import make_database

Asked = Callable[..., Json]

NUMBERS = ("vcpus", "memory_mb", "disk_gb", "amount")
NOTHING_REQUIRED = {"null", "empty-text", "empty-list"}
FINE: dict[str, set[str]] = {
    "disk_gb": {"zero"},
    "affinity": {"null", "empty-text", "true", "zero"},
    "resource_properties": NOTHING_REQUIRED,
}
FINE_OF_FLAVOR: dict[str, set[str]] = {
    "affinity": {"null", "empty-text", "true", "zero"},
    "resource_properties": NOTHING_REQUIRED,
}


class PreparedSlots:
    """Two hosts, and a pending and a running lease of each type."""

    def __init__(self, env: HttpEnv) -> None:
        self.env = env
        env.register("h1", "h2", rack="r1")
        env.cloud.flavors.create_flavor(FLAVOR)
        self.leases = {
            (asked, name): env.create(start, 600, asked=asked())
            for asked in (instances, of_flavor)
            for name, start in (("running", "now"), ("ahead", 120))
        }
        env.work()
        assert {env.status(each) for each in self.leases.values()} == {"ACTIVE", "PENDING"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PreparedSlots]:
    """Return an environment shared by all tests; each test leaves it unchanged."""
    folder = tmp_path_factory.mktemp("prepared")
    with make_database("sqlite", folder) as engine, without_failures():
        yield PreparedSlots(HttpEnv(engine, folder))


def bad(asked: Asked, fine: dict[str, set[str]], *keys: str) -> list[Any]:
    return [
        pytest.param(asked, key, value, id=f"{asked.__name__}-{key}-{name}")
        for key, (name, value) in itertools.product(keys, ODD.items())
        if name not in fine.get(key, ())
    ]


BAD = [
    *bad(instances, FINE, *NUMBERS, "affinity", "resource_properties"),
    *bad(of_flavor, FINE_OF_FLAVOR, "amount", "affinity", "resource_properties", "flavor_id"),
]


@pytest.mark.parametrize(("asked", "key", "value"), BAD)
def test_a_new_reservation_is_refused(prepared: PreparedSlots, asked: Asked, key: str, value: object) -> None:
    before = prepared.env.snapshot()

    answer = prepared.env.post(
        "/leases", prepared.env.wish(200, 300, asked=asked(**{key: value})), who=LESSEE
    )

    # The value may be a valid flavor ID, but no such flavor exists.
    check_refusal(answer, key, 400, *([404] if key == "flavor_id" else []))
    assert prepared.env.snapshot() == before


@pytest.mark.parametrize("name", ["ahead", "running"])
@pytest.mark.parametrize(("asked", "key", "value"), BAD)
def test_a_change_is_refused(
    prepared: PreparedSlots, asked: Asked, key: str, value: object, name: str
) -> None:
    lease = prepared.leases[asked, name]
    before = prepared.env.snapshot()

    change = {"reservations": [{"id": reservation_of(lease)["id"], key: value}]}
    answer = prepared.env.put(f"/leases/{lease['id']}", change, who=LESSEE)

    is_fixed = name == "running" and key == "flavor_id"
    check_refusal(answer, key, 400, *([404] if key == "flavor_id" else []), *([409] if is_fixed else []))
    assert prepared.env.snapshot() == before


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        *((instances, key) for key in (*NUMBERS, "affinity", "resource_properties")),
        *((of_flavor, key) for key in ("flavor_id", "amount", "affinity")),
    ],
)
def test_a_key_that_is_missing_is_named(prepared: PreparedSlots, asked: Asked, key: str) -> None:
    body = prepared.env.wish(200, 300, asked=asked())
    del body["reservations"][0][key]
    before = prepared.env.snapshot()

    check_refusal(prepared.env.post("/leases", body, who=LESSEE), key)

    assert prepared.env.snapshot() == before


@pytest.mark.parametrize("key", ["vcpus", "memory_mb"])
def test_a_size_that_no_flavor_can_have_is_refused(prepared: PreparedSlots, key: str) -> None:
    """A slot without a size would fit onto a host any number of times."""
    before = prepared.env.snapshot()
    nothing = instances(vcpus=0, memory_mb=0, disk_gb=0)

    check_refusal(prepared.env.post("/leases", prepared.env.wish(200, 300, asked=instances(**{key: 0}))), key)
    check_refusal(prepared.env.post("/leases", prepared.env.wish(200, 300, asked=nothing)), "vcpus")

    assert prepared.env.snapshot() == before


@pytest.mark.parametrize("amount", [2**31 - 1, "2147483647"])
@pytest.mark.parametrize("affinity", [True, False, None])
@pytest.mark.parametrize("asked", [instances, of_flavor])
def test_any_amount_is_counted_at_once(
    prepared: PreparedSlots, asked: Asked, affinity: bool | None, amount: object
) -> None:
    before = prepared.env.snapshot()

    answer = prepared.env.post(
        "/leases", prepared.env.wish(200, 300, asked=asked(amount=amount, affinity=affinity))
    )

    assert answer.status_code == 400
    assert answer.json["error_message"].startswith("Not enough hosts available: 2147483647 slots")
    assert prepared.env.snapshot() == before


@pytest.mark.parametrize("key", NUMBERS)
def test_numbers_may_be_texts_as_clients_send_them(prepared: PreparedSlots, key: str) -> None:
    body = prepared.env.wish(700, 800, asked=instances(**{key: str(instances()[key])}))

    answer = prepared.env.post("/leases", body, who=LESSEE)

    assert answer.json["lease"]["reservations"][0][key] == instances()[key]
    prepared.env.delete(f"/leases/{answer.json['lease']['id']}", who=LESSEE)
