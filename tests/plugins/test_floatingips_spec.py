"""The spec of floating IP reservations: requests, and the keys that may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from blazar.domain.errors import BadRequest, InvalidParameter, MissingParameter
from blazar.plugins.floatingips.spec import (
    MADE,
    FloatingIPSpec,
    decode_spec,
    encode_spec,
    parse_spec,
    render_spec,
    revise_spec,
)

BODY: Mapping[str, object] = {"network_id": "net", "amount": 2}
REQUIRED = ("203.0.113.7", "2001:db8::7")
SPEC = FloatingIPSpec(network_id="net", amount=3, required=REQUIRED)


def test_what_is_asked_for_is_understood() -> None:
    body = {**BODY, "amount": "2", "required_floatingips": ["203.0.113.7", "2001:DB8:0::0007"]}

    assert parse_spec(body) == FloatingIPSpec(network_id="net", amount=2, required=REQUIRED)


@pytest.mark.parametrize("required", [{}, {"required_floatingips": None}, {"required_floatingips": []}])
def test_no_address_need_be_required(required: Mapping[str, object]) -> None:
    assert parse_spec({**BODY, **required}).required == ()


def test_none_at_all_may_be_asked_for() -> None:
    assert parse_spec({**BODY, "amount": 0}).amount == 0
    assert parse_spec({**BODY, "amount": "0"}).amount == 0


@pytest.mark.parametrize("missing", ["network_id", "amount"])
def test_what_has_to_be_there_is_named(missing: str) -> None:
    body = {key: value for key, value in BODY.items() if key != missing}

    with pytest.raises(MissingParameter, match=f"Missing parameter {missing}"):
        parse_spec(body)


NONSENSE: Mapping[str, Sequence[object]] = {
    "network_id": ["", 7, ["net"], {}, True, "x" * 256],
    "amount": ["", "two", -1, "-1", 1.5, True, [], 2**31, "9" * 12, "\u0661"],
    "required_floatingips": [
        *("", "203.0.113.7", {}, 7, True),
        *([None], [7], [""], ["203.0.113"], ["203.0.113.0/24"], ["x"]),
        ["203.0.113.1", "203.0.113.2", "203.0.113.3"],
        ["203.0.113.1", "203.0.113.1"],
        ["2001:db8::1", "2001:db8:0::1"],
    ],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in NONSENSE.items() for value in values]
)
def test_what_makes_no_sense_is_refused_by_key(key: str, value: object) -> None:
    with pytest.raises(InvalidParameter, match=f"^{key}: "):
        parse_spec({**BODY, key: value})


@pytest.mark.parametrize("key", ["network_id", "amount"])
def test_null_is_no_value(key: str) -> None:
    with pytest.raises(BadRequest, match=key):
        parse_spec({**BODY, key: None})


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ({}, SPEC),
        ({"amount": "5"}, FloatingIPSpec(network_id="net", amount=5, required=REQUIRED)),
        ({"amount": 2}, FloatingIPSpec(network_id="net", amount=2, required=REQUIRED)),
        ({"amount": 0, "required_floatingips": []}, FloatingIPSpec(network_id="net", amount=0)),
        ({"amount": 3, "network_id": "net"}, SPEC),
        ({"required_floatingips": ["2001:DB8::7", "203.0.113.7"]}, SPEC),
        ({"required_floatingips": []}, FloatingIPSpec(network_id="net", amount=3)),
    ],
)
@pytest.mark.parametrize("is_active", [True, False])
def test_what_may_change_at_any_time(
    changes: Mapping[str, object], after: FloatingIPSpec, is_active: bool
) -> None:
    assert revise_spec(SPEC, changes, is_active=is_active) == after


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        (
            {"required_floatingips": ["203.0.113.9"]},
            FloatingIPSpec(network_id="net", amount=3, required=("203.0.113.9",)),
        ),
    ],
)
def test_what_may_change_before_the_start_only(changes: Mapping[str, object], after: FloatingIPSpec) -> None:
    assert revise_spec(SPEC, changes, is_active=False) == after

    with pytest.raises(InvalidParameter, match=r"^required_floatingips: .* while the reserv"):
        revise_spec(SPEC, changes, is_active=True)


@pytest.mark.parametrize("is_active", [True, False])
@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"network_id": "other"}, "network_id"),
        ({"network_id": None}, "network_id"),
        ({"amount": None}, "amount"),
        ({"amount": "many"}, "amount"),
        ({"required_floatingips": None}, "required_floatingips"),
        ({"required_floatingips": "203.0.113.7"}, "required_floatingips"),
        ({"required_floatingips": ["x"]}, "required_floatingips"),
    ],
)
def test_what_may_never_change(changes: Mapping[str, object], key: str, is_active: bool) -> None:
    with pytest.raises(BadRequest, match=key):
        revise_spec(SPEC, changes, is_active=is_active)


def test_fewer_than_are_required_cannot_be_had() -> None:
    with pytest.raises(InvalidParameter, match="names 2 addresses, more than amount: 1"):
        revise_spec(SPEC, {"amount": 1}, is_active=False)


def test_clients_see_what_they_asked_for() -> None:
    made = replace(SPEC, made={"resource": "floating IP"})

    assert render_spec(made) == {"network_id": "net", "amount": 3, "required_floatingips": list(REQUIRED)}
    assert decode_spec(encode_spec(made)) == made


def test_what_was_made_cannot_be_asked_for() -> None:
    assert parse_spec({**encode_spec(SPEC), MADE: {"resource": "another's"}}) == SPEC
