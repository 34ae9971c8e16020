"""A manager's check that it can be reached itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from clocks import ManualClock
from programs import wait_until

from blazar.manager.clocks import SystemClock
from blazar.ports.manager import Manager
from blazar.rpc.bus import make_server
from blazar.rpc.self_check import SelfCheck


def test_a_manager_is_well_as_soon_as_it_answers_itself(transport: Any, topic: str) -> None:
    server = make_server(transport, topic, "one", cast("Manager", None), lambda: None)
    check = SelfCheck(transport, topic, "one", SystemClock())
    before = check.problems()

    server.start()
    check.start()

    assert before == ("the bus: this manager has not answered yet",)
    assert wait_until(lambda: check.problems() == ())
    check.stop()
    server.stop()
    server.wait()


def test_a_manager_that_cannot_be_reached_reports_it(transport: Any, topic: str) -> None:
    check = SelfCheck(transport, topic, "one", SystemClock())

    check.start()

    assert wait_until(lambda: check.problems() == ("the bus: this manager did not answer in 5 s",))
    check.stop()


def test_a_question_that_hangs_is_noticed(transport: Any, topic: str) -> None:
    clock = ManualClock()
    check = SelfCheck(transport, topic, "one", clock)

    clock.advance(timedelta(seconds=46))

    assert check.problems() == ("the bus: no answer for 46 s",)
