"""Concurrent calls in a thread pool."""

from __future__ import annotations

import threading

import pytest

from blazar.cloud.openstack.executor import ThreadedExecutor
from blazar.telemetry.log_context import ThreadLogContext, global_request_id

PATIENCE_SECONDS = 10


def test_what_is_returned_comes_in_the_order_of_the_acts() -> None:
    second_is_done = threading.Event()

    def first() -> str:
        assert second_is_done.wait(PATIENCE_SECONDS)
        return "first"

    def second() -> str:
        second_is_done.set()
        return "second"

    assert ThreadedExecutor(2).run([first, second]) == ["first", "second"]


def test_no_more_run_at_a_time_than_there_may() -> None:
    lock = threading.Lock()
    pair = threading.Barrier(2)
    present, most = 0, 0

    def act() -> None:
        nonlocal present, most
        with lock:
            present += 1
            most = max(most, present)
        pair.wait(PATIENCE_SECONDS)
        with lock:
            present -= 1

    ThreadedExecutor(2).run([act] * 10)

    assert most == 2


def test_an_error_is_raised_when_nothing_runs_any_more() -> None:
    both = threading.Barrier(2)
    may_end = threading.Event()
    ended: list[str] = []

    def fail() -> None:
        both.wait(PATIENCE_SECONDS)
        threading.Timer(0.05, may_end.set).start()
        raise KeyError("first")

    def go_on() -> None:
        both.wait(PATIENCE_SECONDS)
        assert may_end.wait(PATIENCE_SECONDS)
        ended.append("slow")

    with pytest.raises(KeyError, match="first"):
        ThreadedExecutor(2).run([fail, go_on])

    assert ended == ["slow"]


def test_one_act_needs_no_other_thread() -> None:
    assert ThreadedExecutor(1).run([threading.current_thread]) == [threading.current_thread()]


def test_calls_bear_the_id_of_what_their_thread_works_on() -> None:
    threads = ThreadedExecutor(2)
    with ThreadLogContext().working_on(lease_id="lease-1"):
        own = global_request_id()
        assert own is not None
        assert threads.run([global_request_id] * 4) == [own] * 4

    assert threads.run([global_request_id] * 4) == [None] * 4
