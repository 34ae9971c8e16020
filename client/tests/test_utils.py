"""Published helpers."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarclient import exception, utils
from blazarclient.v1.client import Client

if TYPE_CHECKING:
    from .conftest import Stub


def test_env_returns_the_first_variable_that_is_not_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLAZAR_EMPTY", "")
    monkeypatch.setenv("BLAZAR_SECOND", "two")
    monkeypatch.delenv("BLAZAR_MISSING", raising=False)

    assert utils.env("BLAZAR_MISSING", "BLAZAR_EMPTY", "BLAZAR_SECOND") == "two"
    assert utils.env("BLAZAR_MISSING") == ""
    assert utils.env("BLAZAR_MISSING", default="x") == "x"


def test_other_types_become_json_strings() -> None:
    value = {
        "when": datetime(2030, 1, 1, tzinfo=UTC),
        5: (1, {2}),
        "raw": b"x",
        "odd": SimpleNamespace(a=1),
        "n": None,
    }

    assert json.loads(utils.dumps(value)) == {
        "when": "2030-01-01T00:00:00+00:00",
        "5": [1, [2]],
        "raw": "x",
        "odd": "namespace(a=1)",
        "n": None,
    }
    assert utils.dumps({"a": [1, True]}) == '{"a": [1, true]}'
    assert utils.dumps({"a": 1}, indent=4) == '{\n    "a": 1\n}'
    assert json.loads(utils.dumps({datetime(2030, 1, 1, tzinfo=UTC): 1})) == {"2030-01-01 00:00:00+00:00": 1}


@pytest.mark.parametrize("make", [dict, SimpleNamespace])
def test_a_row_has_the_requested_fields_with_null_as_an_empty_string(make: Any) -> None:
    item = make(start_date="s", Status="up", note=None, count=3)

    row = utils.get_item_properties(
        item,
        ["Start Date", "Status", "Note", "double"],
        mixed_case_fields=["Status"],
        formatters={"double": lambda _: "formatted"},
    )

    assert row == ("s", "up", "", "formatted")


def test_a_missing_field_of_a_dict_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        utils.get_item_properties({"a": 1}, ["b"])

    assert utils.get_item_properties(SimpleNamespace(a=1), ["b"]) == ("",)


# --- names and ids ----------------------------------------------------------------------------------------

UUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
ID = "5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10"


def find(client: Client, name_or_id: str) -> str:
    return utils.find_resource_id_by_name_or_id(client, "lease", name_or_id, "name", UUID)


def test_an_id_is_not_looked_up(stub: Stub, client: Client) -> None:
    assert find(client, ID) == ID
    assert stub.sent == []


def test_a_name_that_starts_with_an_id_is_looked_up(stub: Stub, client: Client) -> None:
    leases = [{"id": "1", "name": "a"}, {"id": "2", "name": f"{ID}-copy"}, {"id": "3", "name": "A"}]
    stub.respond({"leases": leases})
    stub.respond({"leases": leases})

    assert find(client, "a") == "1"
    assert find(client, f"{ID}-copy") == "2"


def test_a_missing_or_ambiguous_name_is_refused(stub: Stub, client: Client) -> None:
    for _ in range(2):
        stub.respond({"leases": [{"id": "1", "name": "a"}, {"id": "2", "name": "a"}]})

    with pytest.raises(
        exception.NotFound, match="Unable to find resource with name 'b': there is no such lease"
    ) as caught:
        find(client, "b")
    assert caught.value.kwargs == {"code": 404, "status_code": 404}
    with pytest.raises(exception.NoUniqueMatch) as several:
        find(client, "a")
    sentence = "more than one appropriate resources for the name 'a' and type 'lease'"
    assert sentence in str(several.value)


# --- durations --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("90m", 5400), ("8h", 28800), ("6d", 518400), ("0s", 0), ("007d", 604800)],
)
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: int) -> None:
    assert utils.from_elapsed_time_to_seconds(text) == seconds
    assert utils.from_elapsed_time_to_seconds(text, pos_sign=False) == -seconds
    assert utils.from_elapsed_time_to_delta(text) == timedelta(seconds=seconds)
    assert utils.from_elapsed_time_to_delta(text, pos_sign=False) == timedelta(seconds=-seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8",
        "h",
        "8|",
        "8 h",
        " 8h",
        "8h ",
        "8h\n",
        "-8h",
        "+8h",
        "8H",
        "1d12h",
        "1.5h",
        "2w",
        "\u0668h",
        None,
        8,
        "9" * 19 + "s",
    ],
)
def test_other_text_is_refused_with_a_client_exception(text: Any) -> None:
    for read in (utils.from_elapsed_time_to_seconds, utils.from_elapsed_time_to_delta):
        with pytest.raises(
            exception.BlazarClientException, match=r"^Invalid time format for option\. "
        ) as caught:
            read(text)
        assert caught.value.code == 400


@given(st.text(max_size=8) | st.from_regex(r"\A[0-9]{1,25}[smhd|]\Z"))
def test_any_text_is_either_a_duration_or_refused(text: str) -> None:
    fits = re.fullmatch(r"[0-9]{1,18}[smhd]", text)

    try:
        seconds = utils.from_elapsed_time_to_seconds(text)
    except exception.BlazarClientException:
        assert not fits
    else:
        assert fits
        assert seconds == int(text[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[text[-1]]


# --- dates ------------------------------------------------------------------------------------------------


def test_the_formats_of_dates_are_those_of_the_service() -> None:
    instant = datetime(2030, 1, 1, 10, 5, tzinfo=UTC)

    assert instant.strftime(utils.LEASE_DATE_FORMAT) == "2030-01-01T10:05:00.000000"
    assert instant.strftime(utils.API_DATE_FORMAT) == "2030-01-01 10:05"
    assert utils.to_api_date(instant) == "2030-01-01 10:05"
    assert utils.to_api_date("now") == "now"
    assert utils.to_api_date(None) is None
