"""Cases that take turns over runs are all tried, and a run can be repeated."""

from __future__ import annotations

import pytest
import turns


@pytest.mark.parametrize("parts", [2, 3])
def test_all_cases_are_tried_by_as_many_runs_as_there_are_parts(
    parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []
    for turn in range(parts):
        monkeypatch.setenv(turns.VARIABLE, str(turn))
        tried.append([number for number in range(1, 13) if turns.is_due(number, parts)])

    assert sorted(number for each in tried for number in each) == list(range(1, 13))
    assert {len(each) for each in tried} == {12 // parts}


def test_a_turn_is_kept_by_the_run_and_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(turns.VARIABLE)

    chosen = turns.choose_turn()

    assert [turns.choose_turn() for _ in range(20)] == [chosen] * 20
