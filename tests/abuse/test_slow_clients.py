"""Slow clients and oversized bodies neither block the API for other clients nor exhaust memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from abuse.big import BODIES, BODY_MEBIBYTES, send_bodies
from abuse.slow import HABITS, files_allowed, slow_clients
from programs import Program, request, start_standalone, wait_until

from rig.usage import resident_mebibytes

CLIENTS = 1000
ROUNDS = 3
"""The number of rounds in which each client sends data."""
MOST_MEBIBYTES = 100
"""The limit on memory growth: the data that a thousand clients may have sent, with a margin."""
USUAL_FILES = 1024
"""The usual default limit on open files of a process."""

Start = Callable[..., tuple[Program, str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Yield a function that starts a service with options of ``[api]``."""
    programs: list[Program] = []

    def started(options: str = "") -> tuple[Program, str]:
        conf = tmp_path / "blazar.conf"
        conf.write_text(f"[api]\n{options}\n")
        with files_allowed(USUAL_FILES):
            # From nothing: the limit is inherited from this process.
            program, url = start_standalone(
                tmp_path / "state", "--config-file", str(conf), python=sys.executable
            )
        programs.append(program)
        assert request(f"{url}/leases")[0] == 200
        return program, url

    yield started
    for each in programs:
        each.close()


def memory_of(program: Program) -> float:
    """Return the resident memory of a program in MiB."""
    return resident_mebibytes([program.process.pid])


def test_others_are_answered_while_a_thousand_clients_dawdle(start: Start) -> None:
    program, url = start()
    before = memory_of(program)

    with slow_clients(url, CLIENTS) as crowd:
        answers = []
        while crowd.rounds < ROUNDS:
            answers.append(request(f"{url}/leases")[0])
        grown = memory_of(program) - before
        heard = crowd.heard

    print(f"{heard} slow clients: {len(answers)} requests of other clients answered, {grown:+.0f} MiB")
    assert heard == CLIENTS
    assert set(answers) == {200}
    assert grown < MOST_MEBIBYTES


def test_who_does_not_come_to_an_end_is_cut_off(start: Start) -> None:
    _, url = start("request_seconds = 1")

    with slow_clients(url, len(HABITS)) as crowd:
        assert wait_until(lambda: crowd.heard == 0)


def test_others_are_answered_when_those_who_took_all_connections_are_cut_off(start: Start) -> None:
    _, url = start("connections = 16\nrequest_seconds = 1")

    with slow_clients(url, 40):
        assert request(f"{url}/leases")[0] == 200


@pytest.mark.parametrize("is_chunked", [False, True], ids=["declared", "chunked"])
def test_oversized_bodies_are_refused_and_not_kept(start: Start, is_chunked: bool) -> None:
    program, url = start()
    before = memory_of(program)

    answers = send_bodies(url, is_chunked=is_chunked)
    grown = memory_of(program) - before

    print(
        f"{BODIES} bodies of {BODY_MEBIBYTES} MiB: {answers.count(413)} answered with 413, {grown:+.0f} MiB"
    )
    # A client that continues to send is disconnected, perhaps before it reads the response.
    assert set(answers) <= ({413, None} if is_chunked else {413})
    assert grown < MOST_MEBIBYTES
    assert request(f"{url}/leases")[0] == 200
