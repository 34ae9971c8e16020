"""Effects of slow clients and oversized bodies on uWSGI, behind nginx as in the guide, and alone."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

import pytest
import requests
from abuse.big import BODIES, BODY_MEBIBYTES, send_bodies
from abuse.slow import (
    HABITS,
    HALF_WAY,
    IN_A_CHUNK,
    IN_THE_BODY,
    IN_THE_HEADERS,
    SILENT,
    Crowd,
    Habit,
    slow_clients,
)
from installations import require_installation
from programs import wait_until

from cloudlab import probes
from cloudlab.folder import REPOSITORY
from rig import web_server
from rig.installation import Installation, running
from rig.usage import resident_mebibytes
from rig.wanted import Wanted

CLIENTS = 1000
ROUNDS = 3
"""The number of rounds in which each client sends data."""
ADDRESSES = tuple(f"127.0.0.{number}" for number in range(2, 27))
"""Addresses of slow clients. All other clients use 127.0.0.1."""
CUT_OFF_SECONDS = 25
"""The guide's 10 seconds, with a margin for a busy machine."""
CROWDS = 4
MOST_OF_ONE_ADDRESS = 100
"""The limit in the guide."""
MOST_MEBIBYTES = 100
SECONDS = 10
FEW_SECONDS = 2
GUIDE = REPOSITORY / "doc" / "operators" / "install.md"
UNIT = REPOSITORY / "etc" / "systemd" / "blazar-api.service"


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    require_installation("mariadb", has_web_server=True)
    with running(Wanted(managers=1, hosts=None, has_web_server=True)) as installation:
        yield installation


def memory_of(installation: Installation) -> float:
    """Return the resident memory of the web server and the API in MiB."""
    return resident_mebibytes(
        each.pid for name in ("nginx", "blazar-api") for each in installation.service(name).members()
    )


def answer(url: str, seconds: float = SECONDS) -> int | None:
    """Return the status of a response; None if there is none within the timeout."""
    try:
        return requests.get(f"{url}/leases", timeout=seconds).status_code
    except requests.RequestException:
        return None


def test_others_are_answered_while_a_thousand_clients_dawdle_until_they_are_cut_off(
    installation: Installation,
) -> None:
    habits = (*HABITS, HALF_WAY)
    steady = CLIENTS * 2 // len(habits)
    before = memory_of(installation)

    with slow_clients(installation.url, CLIENTS, habits, ADDRESSES) as crowd:
        answers = []
        while crowd.rounds < ROUNDS:
            answers.append(answer(installation.url))
        heard, grown = crowd.heard, memory_of(installation) - before

        def are_cut_off() -> bool:
            answers.append(answer(installation.url))
            return crowd.heard <= steady

        assert wait_until(are_cut_off, CUT_OFF_SECONDS)
        left = crowd.heard

    print(
        f"{heard} slow clients: {len(answers)} requests of other clients answered, {grown:+.0f} MiB; "
        f"{left} left after {crowd.rounds} s"
    )
    assert heard == CLIENTS
    assert set(answers) == {200}
    assert grown < MOST_MEBIBYTES


def test_paths_of_calendars_are_not_logged(installation: Installation) -> None:
    paths = ("/calendars/secret.ics", "/%63alendars/secret.ics", "//calendars//secret.ics")
    found = [
        requests.get(f"{installation.url}{each}", timeout=SECONDS, allow_redirects=False) for each in paths
    ]
    assert [each.status_code for each in found] == [404, 404, 308]

    logs = [installation.plan.folder.access_log("nginx"), installation.log("nginx")]
    assert wait_until(lambda: logs[0].read_text().count("GET /v1/calendars/***") == 3, SECONDS)
    assert not [each for each in logs if "secret" in each.read_text()]


def test_one_address_has_a_part_of_all_connections(installation: Installation) -> None:
    with slow_clients(installation.url, 3 * MOST_OF_ONE_ADDRESS, (IN_THE_BODY,), ADDRESSES[:1]) as crowd:
        assert wait_until(lambda: crowd.heard <= MOST_OF_ONE_ADDRESS, CUT_OFF_SECONDS)

        assert answer(installation.url) == 200
        assert crowd.heard == MOST_OF_ONE_ADDRESS


@contextmanager
def few_connections(installation: Installation) -> Iterator[None]:
    """Limit the web server to few connections during the block."""
    few = {
        "worker_processes auto": "worker_processes 1",
        "worker_connections 8192": "worker_connections 16",
        "client_header_timeout 10s": "client_header_timeout 6s",
    }
    web_server.configure(installation.plan, few)
    installation.restart("nginx")
    yield
    web_server.configure(installation.plan)
    installation.restart("nginx")


def has_sent(crowd: Crowd) -> bool:
    """Return whether the clients of a crowd have sent more than their first data."""
    return crowd.rounds > 0


def test_others_are_answered_when_those_who_took_all_connections_are_cut_off(
    installation: Installation,
) -> None:
    log = installation.log("nginx")
    with few_connections(installation), ExitStack() as crowds:
        # nginx drops connections from which it has not read anything yet in favour of new ones, so that one
        # crowd alone may leave some free.
        for _ in range(CROWDS):
            crowd = crowds.enter_context(slow_clients(installation.url, 40, (IN_THE_HEADERS,)))
            assert wait_until(partial(has_sent, crowd))
        assert wait_until(lambda: "worker_connections are not enough" in log.read_text())

        assert wait_until(lambda: answer(installation.url) == 200)


@pytest.mark.parametrize("is_chunked", [False, True], ids=["declared", "chunked"])
def test_oversized_bodies_are_refused_and_not_kept(installation: Installation, is_chunked: bool) -> None:
    before = memory_of(installation)

    answers = send_bodies(installation.url, is_chunked=is_chunked)

    grown = memory_of(installation) - before
    print(
        f"{BODIES} bodies of {BODY_MEBIBYTES} MiB: {answers.count(413)} answered with 413, {grown:+.0f} MiB"
    )
    # A client that continues to send is disconnected, perhaps before it reads the response.
    assert set(answers) <= ({413, None} if is_chunked else {413})
    assert grown < MOST_MEBIBYTES
    assert answer(installation.url) == 200


@contextmanager
def behind_a_router(installation: Installation) -> Iterator[str]:
    """Yield the URL of the API under a separate uWSGI that uses uWSGI's HTTP router."""
    api, address = installation.service("blazar-api"), installation.plan.address("floor")
    places = {"--http-socket": "--http", installation.plan.address("blazar-api"): address}
    service = replace(
        api,
        name="uwsgi",
        command=tuple(places.get(each, each) for each in api.command),
        check=lambda since: probes.serves_http(installation.plan.ports["floor"]),
    )
    try:
        service.start()
        service.wait_until_answers()
        yield f"{installation.plan.url('floor')}/v1"
    finally:
        service.kill()


def check_takes_all_threads(installation: Installation, url: str, habit: Habit) -> None:
    """Assert that as many slow clients as threads block the API for all others until they disconnect."""
    threads = installation.wanted.api.processes * installation.wanted.api.threads
    with slow_clients(url, threads, (habit,)):
        assert wait_until(lambda: answer(url, FEW_SECONDS) is None)
    assert wait_until(lambda: answer(url) == 200)


@pytest.mark.parametrize("habit", [IN_THE_HEADERS, IN_THE_BODY], ids=["headers", "body"])
def test_without_the_web_server_slow_clients_take_all_threads(
    installation: Installation, habit: Habit
) -> None:
    check_takes_all_threads(installation, f"{installation.plan.url('blazar-api')}/v1", habit)


def check_takes_nothing(url: str, *habits: Habit) -> None:
    """Assert that many slow clients do not block the API for others."""
    with slow_clients(url, CLIENTS // 10, habits) as crowd:
        assert wait_until(lambda: crowd.rounds > 0)
        assert answer(url) == 200


def test_without_the_web_server_the_silent_take_nothing(installation: Installation) -> None:
    check_takes_nothing(f"{installation.plan.url('blazar-api')}/v1", IN_A_CHUNK, SILENT)


def test_the_router_of_uwsgi_is_no_help_against_slow_bodies(installation: Installation) -> None:
    with behind_a_router(installation) as url:
        check_takes_nothing(url, IN_THE_HEADERS, IN_A_CHUNK, SILENT)
        check_takes_all_threads(installation, url, IN_THE_BODY)


def test_what_is_tested_here_is_what_the_guide_shows(installation: Installation) -> None:
    guide = GUIDE.read_text()
    (line,) = (each for each in UNIT.read_text().splitlines() if "uwsgi --http-socket" in each)
    command = shlex.split(line)
    shown = [each for each in command[1:] if each.startswith("--")]

    assert f"{{literalinclude}} {os.path.relpath(web_server.EXAMPLE, GUIDE.parent)}" in guide
    assert f"{{literalinclude}} {os.path.relpath(UNIT, GUIDE.parent)}" in guide
    assert "--disable-logging" in shown
    # Tests count requests by the log that the guide turns off.
    assert {*shown} - {"--disable-logging"} <= set(installation.service("blazar-api").command)
