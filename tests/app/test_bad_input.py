"""Malformed input for leases: a 4xx names the parameter, and nothing changes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from app.http_env import (
    LESSEE,
    Json,
    good,
    host_reservation,
    lease_of,
    refusal,
    refusal_b,
)
from app.prepared_env import ODD, ODD_IDS, PreparedEnv, check_refusal

NUMBERS = {"fraction", "zero", "negative", "large", "huge-fraction"}
NAMES = NUMBERS | {"empty-text", "sql", "path", "emoji", "blank"}
"""Unusual names that are valid for a lease; numbers are stored as text."""
NOTHING_REQUIRED = {"null", "empty-text", "empty-list"}
FINE: dict[str, set[str]] = {
    "name": NAMES,
    "before_end_date": {"null", "empty-text"},
    "reservations": {"empty-list", "empty-object"},
    "events": {"null", "empty-list"},
    "hypervisor_properties": NOTHING_REQUIRED,
    "resource_properties": NOTHING_REQUIRED,
    "before_end": {"empty-text"},
}
LEASE_KEYS = ("name", "start_date", "end_date", "before_end_date", "reservations")
COUNTS = ("min", "max")
PROPERTIES = ("hypervisor_properties", "resource_properties")
RESERVATION_KEYS = (*COUNTS, *PROPERTIES, "before_end", "resource_type")


def bad(keys: tuple[str, ...]) -> list[Any]:
    """Return (key, value) for every unusual value that is invalid for the key."""
    return [
        pytest.param(key, value, id=f"{key}-{name}")
        for key, (name, value) in itertools.product(keys, ODD.items())
        if name not in FINE.get(key, ())
    ]


@pytest.mark.parametrize(("key", "value"), bad((*LEASE_KEYS, "events")))
def test_a_new_lease_with_a_value_that_a_key_cannot_have_is_refused(
    prepared: PreparedEnv, key: str, value: object
) -> None:
    with prepared.unchanged() as env:
        answer = env.post("/leases", {**env.wish(200, 300), key: value}, who=LESSEE)

    check_refusal(answer, key)


@pytest.mark.parametrize(("key", "value"), bad(RESERVATION_KEYS))
def test_a_new_reservation_with_a_value_that_a_key_cannot_have_is_refused(
    prepared: PreparedEnv, key: str, value: object
) -> None:
    body = prepared.env.wish(200, 300)
    body["reservations"].append({**host_reservation(), key: value})

    with prepared.unchanged() as env:
        answer = env.post("/leases", body, who=LESSEE)

    check_refusal(answer, key)


@pytest.mark.parametrize("name", ["ahead", "running"])
@pytest.mark.parametrize(("key", "value"), bad(LEASE_KEYS))
def test_a_change_of_a_lease_to_a_value_that_a_key_cannot_have_is_refused(
    prepared: PreparedEnv, key: str, value: object, name: str
) -> None:
    with prepared.unchanged() as env:
        answer = env.put(prepared.path(name), {key: value}, who=LESSEE)

    check_refusal(answer, key)


@pytest.mark.parametrize("name", ["ahead", "running"])
@pytest.mark.parametrize(("key", "value"), bad(RESERVATION_KEYS))
def test_a_change_of_a_reservation_to_a_value_that_a_key_cannot_have_is_refused(
    prepared: PreparedEnv, key: str, value: object, name: str
) -> None:
    reservation_id = prepared.leases[name]["reservations"][0]["id"]

    with prepared.unchanged() as env:
        answer = env.put(prepared.path(name), {"reservations": [{"id": reservation_id, key: value}]})

    # Any short text is a valid resource type, but the type cannot be changed.
    check_refusal(answer, key, 400, *([409] if key == "resource_type" else []))


@pytest.mark.parametrize("value", ODD.values(), ids=ODD.keys())
def test_a_change_of_a_reservation_that_the_lease_does_not_have_is_refused(
    prepared: PreparedEnv, value: object
) -> None:
    with prepared.unchanged() as env:
        answer = env.put(prepared.path("ahead"), {"reservations": [{"id": value, "min": 1}]})

    check_refusal(answer, "reservations" if isinstance(value, str) else "id")


def test_a_reservation_of_another_lease_cannot_be_changed(prepared: PreparedEnv) -> None:
    other = prepared.leases["running"]["reservations"][0]["id"]

    with prepared.unchanged() as env:
        answer = env.put(prepared.path("ahead"), {"reservations": [{"id": other, "max": 2}]})

    assert other in refusal(answer, 400)


def test_a_reservation_is_named_once_in_a_change(prepared: PreparedEnv) -> None:
    change = {"id": prepared.leases["ahead"]["reservations"][0]["id"], "max": 2}

    with prepared.unchanged() as env:
        check_refusal(env.put(prepared.path("ahead"), {"reservations": [change, change]}), "reservations")


NOW = "2031-01-01 00:20"
LATER = "2031-01-01 05:00"
NEW_DATES: list[tuple[str, str, str, str | None]] = [
    # name, start, end, parameter named in the refusal
    ("start-is-now", NOW, LATER, None),
    ("start-is-the-word-now", "now", LATER, None),
    ("start-two-minutes-ago", "2031-01-01 00:18", LATER, "start_date"),
    ("end-is-start", LATER, LATER, "end_date"),
    ("end-a-minute-after-start", "2031-01-01 04:59", LATER, None),
    ("end-before-start", LATER, "2031-01-01 04:59", "end_date"),
    ("end-is-now", NOW, "now", "end_date"),
    ("both-now", "now", "now", "end_date"),
    ("first-year", "0001-01-01 00:00", LATER, "start_date"),
    ("year-zero", "0000-01-01 00:00", LATER, "start_date"),
    ("last-minute-of-all", "9999-12-31 23:58", "9999-12-31 23:59", None),
    ("after-all", "10000-01-01 00:00", "10000-01-01 00:01", "start_date"),
    ("no-such-day", "2031-02-30 00:00", "2031-03-01 00:00", "start_date"),
    ("no-leap-year", "2031-02-29 00:00", "2031-03-01 00:00", "start_date"),
    ("leap-year", "2032-02-29 00:00", "2032-03-01 00:00", None),
    ("hour-24", "2031-01-01 24:00", "2031-03-01 00:00", "start_date"),
    ("minute-60", "2031-01-01 10:60", "2031-03-01 00:00", "start_date"),
    ("single-digits", "2031-1-1 0:25", LATER, None),
    ("seconds", NOW, "2031-01-01 05:00:00", "end_date"),
    ("letter-t", NOW, "2031-01-01T05:00", "end_date"),
    ("zone", NOW, "2031-01-01 05:00+00:00", "end_date"),
    ("no-time", NOW, "2031-01-02", "end_date"),
    ("blank-before", " " + NOW, LATER, "start_date"),
    ("blank-after", NOW + " ", LATER, "start_date"),
    ("line-break-after", NOW, LATER + "\n", "end_date"),
    ("now-with-a-blank", "now ", LATER, "start_date"),
    ("now-in-capitals", "NOW", LATER, "start_date"),
    ("other-digits", "\u0662\u0660\u0663\u0661-01-01 00:30", LATER, "start_date"),
    ("minus-sign", "-2031-01-01 00:30", LATER, "start_date"),
]


@pytest.mark.parametrize(
    ("start", "end", "named"), [pytest.param(*each[1:], id=each[0]) for each in NEW_DATES]
)
def test_the_dates_of_a_new_lease(prepared: PreparedEnv, start: str, end: str, named: str | None) -> None:
    body = {"name": "x", "start_date": start, "end_date": end, "reservations": []}

    if named is None:
        lease = lease_of(prepared.env.post("/leases", body), 201)
        assert prepared.env.delete(f"/leases/{lease['id']}").status_code == 204
        return
    with prepared.unchanged() as env:
        check_refusal(env.post("/leases", body), named)


BEFORE_END = [
    ("at-the-start", "2031-01-01 02:00", 403),
    ("a-minute-after-the-start", "2031-01-01 02:01", None),
    ("a-minute-before-the-end", "2031-01-01 02:59", None),
    ("at-the-end", "2031-01-01 03:00", 403),
    ("long-ago", "0001-01-01 00:00", 403),
    ("at-the-end-of-all", "9999-12-31 23:59", 403),
    ("the-word-now", "now", 400),
    ("no-such-day", "2031-02-30 00:00", 400),
]


@pytest.mark.parametrize(
    ("before_end", "status"), [pytest.param(*each[1:], id=each[0]) for each in BEFORE_END]
)
def test_the_before_end_date_of_a_new_lease_lies_inside_of_it(
    prepared: PreparedEnv, before_end: str, status: int | None
) -> None:
    body = {**prepared.env.wish(120, 180), "reservations": [], "before_end_date": before_end}

    if status is None:
        lease = lease_of(prepared.env.post("/leases", body), 201)
        assert prepared.env.delete(f"/leases/{lease['id']}").status_code == 204
        return
    with prepared.unchanged() as env:
        check_refusal(env.post("/leases", body), "before_end_date", status)


@pytest.mark.parametrize(
    ("before_end", "status"),
    [pytest.param(*each[1:], id=each[0]) for each in BEFORE_END if each[2] is not None],
)
def test_the_before_end_date_of_a_lease_stays_inside_of_it(
    prepared: PreparedEnv, before_end: str, status: int
) -> None:
    with prepared.unchanged() as env:
        answer = env.put(prepared.path("ahead"), {"before_end_date": before_end, "name": "other"})

    check_refusal(answer, "before_end_date", status)


@pytest.mark.parametrize(
    ("name", "change", "named"),
    [
        pytest.param("ahead", {"start_date": "2031-01-01 00:18"}, "start_date", id="start-in-the-past"),
        pytest.param("ahead", {"start_date": "2031-01-01 03:00"}, "end_date", id="start-at-the-end"),
        pytest.param("ahead", {"end_date": "2031-01-01 02:00"}, "end_date", id="end-at-the-start"),
        pytest.param("ahead", {"end_date": "now"}, "end_date", id="end-before-the-start"),
        pytest.param("ahead", {"end_date": "2031-01-01 00:18"}, "end_date", id="end-in-the-past"),
        pytest.param("ahead", {"start_date": "0001-01-01 00:00"}, "start_date", id="first-year"),
        pytest.param("running", {"start_date": "now"}, "start_date", id="start-of-what-has-begun"),
        pytest.param("running", {"start_date": LATER}, "start_date", id="start-put-off-too-late"),
        pytest.param("running", {"end_date": "2031-01-01 00:18"}, "end_date", id="end-two-minutes-ago"),
        pytest.param("over", {"end_date": LATER}, "end_date", id="extension-after-the-end"),
        pytest.param("over", {"end_date": "now"}, "end_date", id="end-after-the-end"),
        pytest.param("over", {"reservations": []}, "end_date", id="reservations-after-the-end"),
    ],
)
def test_dates_that_a_lease_cannot_have_any_more_are_refused(
    prepared: PreparedEnv, name: str, change: Json, named: str
) -> None:
    with prepared.unchanged() as env:
        check_refusal(env.put(prepared.path(name), {"name": "other", **change}), named)


@pytest.mark.parametrize("missing", ["name", "start_date", "end_date"])
def test_a_new_lease_without_a_required_key_is_refused(prepared: PreparedEnv, missing: str) -> None:
    body = prepared.env.wish(200, 300)
    del body[missing]

    with prepared.unchanged() as env:
        assert refusal(env.post("/leases", body), 400) == f"Missing parameter {missing}"


@pytest.mark.parametrize("missing", ["resource_type", *COUNTS, *PROPERTIES])
def test_a_new_reservation_without_a_required_key_is_refused(prepared: PreparedEnv, missing: str) -> None:
    body = prepared.env.wish(200, 300)
    del body["reservations"][0][missing]

    with prepared.unchanged() as env:
        message = refusal(env.post("/leases", body), 400)

    assert message.startswith("Missing parameter ")
    assert missing in message


BODIES: dict[str, tuple[bytes, str]] = {
    # body, parameter named in the refusal in shape A; empty for shape B
    "cut-off": (b'{"name": "x"', ""),
    "single-quotes": (b"{'name': 'x'}", ""),
    "form": (b"name=x&start_date=now", ""),
    "xml": (b"<lease/>", ""),
    "no-utf-8": (b'{"name": "\xff"}', ""),
    "utf-16": ('{"name": "x"}'.encode("utf-16"), ""),
    "two-values": (b"{} {}", ""),
    "trailing-comma": (b'{"name": "x",}', ""),
    "not-a-number": (b'{"name": NaN}', ""),
    "only-brackets": (b"[" * 100_000, ""),
    "list": (b"[]", "body"),
    "list-of-leases": (b'[{"name": "x", "start_date": "now", "end_date": "2031-02-01 00:00"}]', "body"),
    "text": (b'"name"', "body"),
    "number": (b"7", "body"),
    "true": (b"true", "body"),
}


@pytest.mark.parametrize(("method", "path"), [("POST", ""), ("PUT", "ahead"), ("PUT", "over")])
@pytest.mark.parametrize(("body", "named"), BODIES.values(), ids=BODIES.keys())
def test_a_body_about_a_lease_that_is_no_object_is_refused(
    prepared: PreparedEnv, method: str, path: str, body: bytes, named: str
) -> None:
    with prepared.unchanged() as env:
        answer = env.ask(method, prepared.path(path) if path else "/leases", body=body)

    if named:
        check_refusal(answer, named)
    else:
        assert "body" in refusal_b(answer, 400)


@pytest.mark.parametrize("kind", ["text/plain", "text/json", "application/xml", "application/x+json"])
def test_a_body_about_a_lease_that_is_not_declared_as_json_is_refused(
    prepared: PreparedEnv, kind: str
) -> None:
    with prepared.unchanged() as env:
        for method, path in (("POST", "/leases"), ("PUT", prepared.path("ahead"))):
            answer = env.ask(method, path, body=b'{"name": "x"}', headers={"Content-Type": kind})
            assert "content type" in refusal_b(answer, 400)


def test_a_wrapped_lease_lacks_its_keys(prepared: PreparedEnv) -> None:
    with prepared.unchanged() as env:
        answer = env.post("/leases", {"lease": env.wish(200, 300)})

    assert refusal(answer, 400) == "Missing parameter name, start_date, end_date"


@pytest.mark.parametrize("body", [b"", b"null", b"{}", b'{"lease": {"name": "x"}}', b'{"events": []}'])
@pytest.mark.parametrize("name", ["ahead", "running", "failed", "over"])
def test_a_change_that_says_nothing_changes_nothing(prepared: PreparedEnv, name: str, body: bytes) -> None:
    with prepared.unchanged() as env:
        answer = env.ask("PUT", prepared.path(name), body=body)

    assert good(answer)["lease"] == prepared.env.lease(prepared.leases[name]["id"])


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("lease_id", ODD_IDS.values(), ids=ODD_IDS.keys())
def test_a_lease_that_does_not_exist_is_not_found(prepared: PreparedEnv, lease_id: str, method: str) -> None:
    with prepared.unchanged() as env:
        answer = env.ask(method, f"/leases/{lease_id}", who=LESSEE, body=b'{"name": "x"}')

    assert answer.status_code == 404
    assert len(answer.text) < 500


@pytest.mark.parametrize("value", ["", 1.5, 0, -1, "' OR 1=1 --", "../../x", "%00", "😀" * 80])
def test_odd_names_are_stored_and_shown_as_they_are(prepared: PreparedEnv, value: object) -> None:
    body = {**prepared.env.wish(200, 300), "name": value, "reservations": []}

    lease = lease_of(prepared.env.post("/leases", body, who=LESSEE), 201)

    assert lease["name"] == prepared.env.lease(lease["id"])["name"] == str(value)
    assert prepared.env.change(lease, name="other")["name"] == "other"
    assert prepared.env.change(lease, name=value)["name"] == str(value)
    assert prepared.env.delete(f"/leases/{lease['id']}").status_code == 204


@pytest.mark.parametrize("value", ["x" * 81, "😀" * 81])
def test_a_name_has_at_most_80_characters(prepared: PreparedEnv, value: str) -> None:
    with prepared.unchanged() as env:
        check_refusal(env.post("/leases", {**env.wish(200, 300), "name": value}), "name")
        check_refusal(env.put(prepared.path("ahead"), {"name": value}), "name")


def test_a_name_of_a_mebibyte_is_refused_before_it_is_read(prepared: PreparedEnv) -> None:
    with prepared.unchanged() as env:
        answer = env.post("/leases", {**env.wish(200, 300), "name": "x" * 2**20})

    assert "body" in refusal_b(answer, 413)


EXPRESSIONS = [
    *("x", "7", "true", "null", '"x"', "{}", "['==', '$rack', 'r1']", '["and"]', '["and", []]', '["or", 1]'),
    *('["==", "$rack"]', '["==", "$rack", "r1", "r2"]', '["==", "rack", "r1"]', '["==", "$", "r1"]'),
    *('["==", "$rack", ""]', '["==", "$rack", 1]', '["==", "$ra ck", "r1"]', '["in", "$rack", "r1"]'),
    *('["==", "$trust_id", "x"]', '["==", "$no_such_key", "x"]', '["==", "$__class__", "x"]'),
    *('["==", "$rack", "\\u0000"]', '["==", "$rack", "\\ud800"]', "[" * 5000, "[" * 500 + "]" * 500),
]


@pytest.mark.parametrize("key", PROPERTIES)
@pytest.mark.parametrize("text", EXPRESSIONS, ids=lambda text: text[:40])
def test_an_expression_that_cannot_be_used_is_refused(prepared: PreparedEnv, key: str, text: str) -> None:
    change = {"id": prepared.leases["ahead"]["reservations"][0]["id"], key: text}

    with prepared.unchanged() as env:
        check_refusal(env.post("/leases", env.wish(200, 300, asked=host_reservation(**{key: text}))), key)
        check_refusal(env.put(prepared.path("ahead"), {"reservations": [change]}), key)


@pytest.mark.parametrize(
    ("minimum", "maximum", "named"), [(2, 1, "min"), ("2", "1", "min"), (2, 2**31, "max")]
)
def test_counts_out_of_range_are_refused(
    prepared: PreparedEnv, minimum: Any, maximum: Any, named: str
) -> None:
    with prepared.unchanged() as env:
        check_refusal(env.post("/leases", env.wish(200, 300, min=minimum, max=maximum)), named)
