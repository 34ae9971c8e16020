"""The truth table of ``BlazarFilter``, asked of the filter inside of Nova's scheduler."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from in_nova import blazar_host_manager, host_states, passing, request_spec
from table_samples import ALL_HOSTS, ALL_OPTIONS, ALL_SERVERS, EXAMPLES, Case, differences
from truth_table import SOURCE, deciding_rows, rows

from blazarnova.scheduler.filters import blazar_filter


def passes(case: Case, folder: Path) -> bool:
    manager = blazar_host_manager(folder, case.options)
    states = host_states([case.host])
    found = passing(manager, states, request_spec(case.server))
    assert found in ([], states)
    return bool(found)


def test_the_table_that_was_read_is_that_of_the_filter_under_test() -> None:
    assert Path(blazar_filter.__file__).samefile(SOURCE)


def test_every_row_has_an_example() -> None:
    assert [row.number for row in rows()] == list(range(1, len(rows()) + 1))
    assert {number for number, _, _ in EXAMPLES} == {row.number for row in rows()}


@pytest.mark.parametrize(("number", "case", "near"), EXAMPLES)
def test_an_example_has_the_result_of_its_row_and_a_near_one_the_other(
    number: int, case: Case, near: Case, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert case.row.number == number
    assert len(differences(case, near)) == 1
    assert near.row.passes is not case.row.passes

    with caplog.at_level(logging.DEBUG, logger=blazar_filter.__name__):
        assert passes(case, tmp_path) is case.row.passes
        assert passes(near, tmp_path) is near.row.passes

    rejecting = near if case.row.passes else case
    (said,) = (each.getMessage() for each in caplog.records if each.name == blazar_filter.__name__)
    assert f" row={rejecting.row.number} " in said


def test_every_combination_has_the_result_of_the_first_row_that_fits(tmp_path: Path) -> None:
    states = host_states(ALL_HOSTS)
    specs = [request_spec(server) for server in ALL_SERVERS]
    seen = set()

    for options in ALL_OPTIONS:
        manager = blazar_host_manager(tmp_path, options)
        for server, spec in zip(ALL_SERVERS, specs, strict=True):
            deciding = deciding_rows(server, ALL_HOSTS, options)
            expected = [state for state, row in zip(states, deciding, strict=True) if row.passes]
            assert passing(manager, states, spec) == expected, (server, options)
            seen.update(deciding)

    assert seen == set(rows())
