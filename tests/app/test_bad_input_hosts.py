"""Malformed input for hosts: a 4xx names the parameter, and nothing changes."""

from __future__ import annotations

import pytest
from app.http_env import Json, good, refusal, refusal_b
from app.prepared_env import ODD, ODD_IDS, PreparedEnv, check_refusal

NO_CAPABILITY = ("empty-list", "empty-object", "huge", "nul", "half-surrogate", "mebibyte", "object", "deep")
"""Values that are invalid for an extra capability; all others are stored as text."""


def odd(*names: str) -> list[object]:
    return [pytest.param(ODD[name], id=name) for name in names]


@pytest.fixture(scope="module", autouse=True)
def spare_hypervisor(prepared: PreparedEnv) -> str:
    """Return a hypervisor that is not registered."""
    prepared.env.cloud.add_hypervisor("spare")
    return "spare"


@pytest.mark.parametrize("value", odd("null", *NO_CAPABILITY))
def test_a_new_host_with_a_value_that_no_capability_can_have_is_refused(
    prepared: PreparedEnv, value: object
) -> None:
    with prepared.unchanged() as env:
        check_refusal(env.post("/os-hosts", {"name": "spare", "color": value}), "color")


@pytest.mark.parametrize("value", odd(*NO_CAPABILITY))
def test_a_change_of_a_host_to_a_value_that_no_capability_can_have_is_refused(
    prepared: PreparedEnv, value: object
) -> None:
    with prepared.unchanged() as env:
        answer = env.put(f"/os-hosts/{prepared.hosts[4]}", {"gpu": "h200", "color": value})

    check_refusal(answer, "color")


@pytest.mark.parametrize("value", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("key", ["name", "id"])
def test_a_new_host_with_a_reference_to_nothing_is_refused(
    prepared: PreparedEnv, key: str, value: object
) -> None:
    with prepared.unchanged() as env:
        answer = env.post("/os-hosts", {key: value})

    assert 400 <= answer.status_code < 500, answer.text
    if answer.status_code == 404:
        assert str(value)[:200] in refusal(answer, 404)
    elif value in ("", 0):
        assert "name" in refusal(answer, 400)
    else:
        check_refusal(answer, key)


@pytest.mark.parametrize("key", ["x" * 65, "x" * 300, "", "a\x00b", "\ud800"])
def test_a_capability_of_a_name_that_none_can_have_is_refused(prepared: PreparedEnv, key: str) -> None:
    with prepared.unchanged() as env:
        for answer in (
            env.post("/os-hosts", {"name": "spare", key: "x"}),
            env.put(f"/os-hosts/{prepared.hosts[4]}", {"gpu": "h200", key: "x"}),
        ):
            message = refusal(answer, 400)
            assert "Extra capability key too long" in message or "NUL" in message
            assert len(message) < 500


def test_a_capability_may_have_any_other_name_and_any_text(prepared: PreparedEnv) -> None:
    capabilities = {
        "x" * 64: "x" * 10_000,
        "' OR 2=2 --": "'; DROP TABLE hosts; --",
        "../../y": "%00",
        "🙂": "😀",
        "a b": " ",
        "empty": "",
    }

    host = good(prepared.env.put(f"/os-hosts/{prepared.hosts[4]}", capabilities))["host"]

    assert host.items() >= capabilities.items()
    assert good(prepared.env.get(f"/os-hosts/{prepared.hosts[4]}"))["host"] == host
    for key in capabilities:
        good(prepared.env.put(f"/os-hosts/{prepared.hosts[4]}", {key: None}))


@pytest.mark.parametrize(
    ("value", "stored"),
    [(7, "7"), (-1, "-1"), (1.5, "1.5"), (True, "1"), (False, "0"), (10**18, str(10**18)), ("", "")],
)
def test_numbers_and_booleans_are_stored_as_their_text(
    prepared: PreparedEnv, value: object, stored: str
) -> None:
    host = good(prepared.env.put(f"/os-hosts/{prepared.hosts[4]}", {"slots": value}))["host"]

    assert host["slots"] == stored


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/os-hosts"), ("PUT", "/os-hosts/1"), ("PATCH", "/os-hosts/properties/gpu")]
)
@pytest.mark.parametrize("body", [b"{", b"{'a': 1}", b"\xff", b'{"a": NaN}', b"{} {}"])
def test_a_body_about_a_host_that_is_not_json_is_refused(
    prepared: PreparedEnv, method: str, path: str, body: bytes
) -> None:
    with prepared.unchanged() as env:
        assert "body" in refusal_b(env.ask(method, path, body=body), 400)


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/os-hosts"), ("PUT", "/os-hosts/1"), ("PATCH", "/os-hosts/properties/gpu")]
)
@pytest.mark.parametrize("body", [[], [{"name": "spare"}], "spare", 7, True, None])
def test_a_body_about_a_host_that_is_no_object_is_refused(
    prepared: PreparedEnv, method: str, path: str, body: object
) -> None:
    with prepared.unchanged() as env:
        check_refusal(env.ask(method, path, json=body), "body")


@pytest.mark.parametrize("body", [b"", b"{}"])
def test_a_change_of_a_host_that_says_nothing_is_refused(prepared: PreparedEnv, body: bytes) -> None:
    with prepared.unchanged() as env:
        check_refusal(env.ask("PUT", f"/os-hosts/{prepared.hosts[0]}", body=body), "body")


@pytest.mark.parametrize("body", [{}, {"id": "", "name": ""}, {"gpu": "a100"}, {"host": {"name": "spare"}}])
def test_a_new_host_without_a_reference_is_refused(prepared: PreparedEnv, body: Json) -> None:
    with prepared.unchanged() as env:
        check_refusal(env.post("/os-hosts", body), "host" if "host" in body else "name")


@pytest.mark.parametrize("host_id", ODD_IDS.values(), ids=ODD_IDS.keys())
def test_a_host_that_does_not_exist_is_not_found(prepared: PreparedEnv, host_id: str) -> None:
    with prepared.unchanged() as env:
        for method, path in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("GET", "/allocation")):
            answer = env.ask(method, f"/os-hosts/{host_id}{path}", body=b'{"gpu": "x"}')
            assert answer.status_code == 404
            assert len(answer.text) < 500


def test_a_host_is_not_found_by_its_name(prepared: PreparedEnv) -> None:
    with prepared.unchanged() as env:
        assert "host_id h1" in refusal(env.get("/os-hosts/h1"), 404)
        assert "host_id h1" in refusal(env.delete("/os-hosts/h1"), 404)


@pytest.mark.parametrize("name", ODD_IDS.values(), ids=ODD_IDS.keys())
def test_a_property_that_does_not_exist_is_not_found(prepared: PreparedEnv, name: str) -> None:
    with prepared.unchanged() as env:
        answer = env.patch(f"/os-hosts/properties/{name}", {"private": True})

    assert answer.status_code == 404
    assert len(answer.text) < 500


@pytest.mark.parametrize(
    "value", [pytest.param(value, id=name) for name, value in ODD.items() if name not in ("true", "zero")]
)
def test_a_property_is_private_or_not_and_nothing_else(prepared: PreparedEnv, value: object) -> None:
    with prepared.unchanged() as env:
        check_refusal(env.patch("/os-hosts/properties/gpu", {"private": value}), "private")


def test_a_change_of_a_property_that_says_nothing_about_it_changes_nothing(prepared: PreparedEnv) -> None:
    with prepared.unchanged() as env:
        for body in ({}, {"property_name": "cpu", "resource_type": "x", "id": "y"}):
            changed = good(env.patch("/os-hosts/properties/gpu", body))["resource_property"]
            assert changed["property_name"] == "gpu"
            assert changed["resource_type"] == "physical:host"


@pytest.mark.parametrize("key", ["lease_id", "reservation_id"])
@pytest.mark.parametrize("value", [value for name, value in ODD_IDS.items() if not name.startswith("nul")])
def test_allocations_of_what_does_not_exist_are_none_on_any_host(
    prepared: PreparedEnv, key: str, value: str
) -> None:
    with prepared.unchanged() as env:
        every = good(env.get("/os-hosts/allocations", query_string=f"{key}={value}"))["allocations"]
        one = good(env.get(f"/os-hosts/{prepared.hosts[0]}/allocation", query_string=f"{key}={value}"))

    assert {each["resource_id"] for each in every} == set(prepared.hosts)
    assert all(each["reservations"] == [] for each in every)
    assert one["allocation"] == {"resource_id": prepared.hosts[0], "reservations": []}


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/os-hosts/allocations", "lease_id"),
        ("/os-hosts/allocations", "reservation_id"),
        ("/os-hosts/1/allocation", "lease_id"),
        ("/os-hosts/properties", "detail"),
        ("/os-hosts/properties", "all"),
        ("/leases", "limit"),
    ],
)
def test_nul_in_a_query_is_refused(prepared: PreparedEnv, path: str, key: str) -> None:
    with prepared.unchanged() as env:
        check_refusal(env.get(path, query_string=f"{key}=a%00b"), key)


def test_unknown_and_repeated_parameters_of_a_query_do_no_harm(prepared: PreparedEnv) -> None:
    lease_id = prepared.leases["ahead"]["id"]
    query = f"lease_id={lease_id}&lease_id=other&limit=' OR 1=1 --&marker=x&reservation_id="

    with prepared.unchanged() as env:
        found = good(env.get("/os-hosts/allocations", query_string=query))["allocations"]

    assert [r["lease_id"] for each in found for r in each["reservations"]] == [lease_id]
