"""The spec of host reservations in requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.errors import (
    BadRequest,
    InvalidParameter,
    InvalidRange,
    InvalidRequirement,
    MissingParameter,
)
from blazar.plugins.hosts.spec import HostSpec, encode_spec, parse_spec, revise_spec

BODY = {"min": 1, "max": 2, "hypervisor_properties": "", "resource_properties": None}
RACK = '["==", "$rack", "r1"]'
SPEC = HostSpec(minimum=1, maximum=2, hypervisor_properties="", resource_properties="")


def refusal(body: Mapping[str, object]) -> BadRequest:
    with pytest.raises(BadRequest) as refused:
        parse_spec(body)
    return refused.value


def without(*keys: str, **fields: object) -> dict[str, object]:
    return {**{key: value for key, value in BODY.items() if key not in keys}, **fields}


class TestParsing:
    def test_a_spec_keeps_what_was_sent(self) -> None:
        spec = parse_spec({**BODY, "resource_properties": RACK, "before_end": "snapshot", "unknown": 1})

        assert spec == HostSpec(
            minimum=1, maximum=2, hypervisor_properties="", resource_properties=RACK, before_end="snapshot"
        )
        assert encode_spec(spec) == {
            "min": 1,
            "max": 2,
            "hypervisor_properties": "",
            "resource_properties": RACK,
            "before_end": "snapshot",
        }
        assert spec.requirement.keys == {"rack"}

    def test_both_expressions_are_required_together(self) -> None:
        spec = parse_spec(
            {**BODY, "hypervisor_properties": '[">", "$vcpus", "4"]', "resource_properties": RACK}
        )

        assert spec.requirement.matches({"vcpus": 8, "rack": "r1"})
        assert not spec.requirement.matches({"vcpus": 4, "rack": "r1"})
        assert not spec.requirement.matches({"vcpus": 8, "rack": "r2"})

    def test_counts_may_be_numeric_text(self) -> None:
        spec = parse_spec({**BODY, "min": "2", "max": "10"})

        assert (spec.minimum, spec.maximum) == (2, 10)
        assert encode_spec(spec)["max"] == 10

    def test_an_expression_may_be_a_list(self) -> None:
        spec = parse_spec({**BODY, "resource_properties": ["==", "$rack", "r1"]})

        assert spec.resource_properties == RACK

    def test_the_default_before_end_action_is_the_sites(self) -> None:
        assert parse_spec(BODY).before_end == "default"

    @pytest.mark.parametrize(
        "count",
        [
            *("x", "", "-", "--5", "1-", "+1", " 1", "1.0", "0x1", "\N{ARABIC-INDIC DIGIT THREE}", "1" * 40),
            *(True, 1.0, [1], {}),
            *(0, -1, "0", "-1", 2**31, str(2**31)),
        ],
    )
    @pytest.mark.parametrize("key", ["min", "max"])
    def test_a_count_is_a_positive_whole_number(self, key: str, count: object) -> None:
        error = refusal({**BODY, key: count})

        assert isinstance(error, InvalidParameter)
        assert error.fields["name"] == key

    @pytest.mark.parametrize("action", [None, "destroy", "Snapshot", 0, []])
    def test_an_unknown_before_end_action_is_refused(self, action: object) -> None:
        assert refusal({**BODY, "before_end": action}).fields["name"] == "before_end"

    @pytest.mark.parametrize(
        ("body", "error", "names"),
        [
            (without("min", "max"), MissingParameter, ["min"]),
            (without("max", min=None), MissingParameter, ["min"]),
            (without("max", min="1"), MissingParameter, ["max"]),
            (without("resource_properties", min="x", max=1), InvalidParameter, "min"),
            (without("resource_properties", max="x"), InvalidParameter, "max"),
            (without("hypervisor_properties", min=3), InvalidRange, None),
            (
                without("hypervisor_properties", "resource_properties", before_end="x"),
                MissingParameter,
                ["hypervisor_properties", "resource_properties"],
            ),
            (
                without("resource_properties", hypervisor_properties="x="),
                MissingParameter,
                ["resource_properties"],
            ),
            (without(before_end="x", hypervisor_properties="x="), InvalidParameter, "before_end"),
            (
                without(hypervisor_properties="x=", resource_properties="x="),
                InvalidRequirement,
                "hypervisor_properties",
            ),
            (without(resource_properties="x="), InvalidRequirement, "resource_properties"),
        ],
    )
    def test_the_first_problem_is_reported(
        self, body: dict[str, object], error: type[BadRequest], names: object
    ) -> None:
        refused = refusal(body)

        assert type(refused) is error
        assert refused.fields.get("names", refused.fields.get("name")) == names

    @given(
        st.dictionaries(
            st.sampled_from([*BODY, "before_end"]),
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()),
        )
    )
    def test_nothing_that_is_sent_is_worse_than_a_bad_request(self, body: dict[str, object]) -> None:
        try:
            spec = parse_spec(body)
        except BadRequest:
            return
        assert parse_spec(encode_spec(spec)) == spec


class TestRevising:
    def test_keys_that_are_not_sent_keep_their_value(self) -> None:
        spec = replace(SPEC, hypervisor_properties=RACK, before_end="snapshot")

        assert revise_spec(spec, {"id": "x", "resource_type": "physical:host"}) == spec
        assert revise_spec(spec, {"max": "3"}) == replace(spec, maximum=3)
        assert revise_spec(spec, {"hypervisor_properties": None}) == replace(spec, hypervisor_properties=None)
        assert revise_spec(spec, {"before_end": ""}) == replace(spec, before_end="")

    @pytest.mark.parametrize("changes", [{"min": 3}, {"min": 2, "max": 1}])
    def test_the_range_is_checked_with_what_is_stored(self, changes: dict[str, object]) -> None:
        with pytest.raises(InvalidRange):
            revise_spec(SPEC, changes)

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            ({"min": None}, MissingParameter),
            ({"max": 0}, InvalidParameter),
            ({"before_end": None}, InvalidParameter),
            ({"resource_properties": "x="}, InvalidRequirement),
            ({"before_end": "x", "resource_properties": "x", "min": 5}, InvalidRange),
        ],
    )
    def test_what_a_new_reservation_may_not_say_a_change_may_not_either(
        self, changes: dict[str, object], error: type[BadRequest]
    ) -> None:
        with pytest.raises(error):
            revise_spec(SPEC, changes)
