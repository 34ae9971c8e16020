"""Ids in log lines, as oslo.log writes them."""

from __future__ import annotations

import json
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from oslo_config import cfg
from oslo_context import context as oslo
from oslo_log import formatters, log

from blazar.ports.manager import Caller
from blazar.telemetry.log_context import (
    INSTANCE_FORMAT,
    ThreadLogContext,
    arriving,
    global_request_id,
    serving,
    shown_id,
)

REQUEST = "req-6a0c1f0e-1111-4222-8333-0123456789ab"
GLOBAL = "req-6a0c1f0e-9999-4222-8333-0123456789ab"
CALLER = Caller(
    user_id="u1",
    project_id="p1",
    roles=("member",),
    request_id=REQUEST,
    global_request_id=GLOBAL,
    token="secret-token",
)
LOG_CONTEXT = ThreadLogContext()


def about() -> dict[str, Any]:
    present = oslo.get_current()
    assert present is not None
    names = ("request_id", "global_request_id", "user_id", "project_id", "lease_id", "reservation_id")
    values = present.get_logging_values()
    return {each: values[each] for each in names if values[each] is not None}


def record(text: str = "something happened") -> logging.LogRecord:
    return logging.LogRecord("blazar.test", logging.INFO, __file__, 1, text, (), None)


@pytest.fixture
def conf() -> cfg.ConfigOpts:
    found = cfg.ConfigOpts()
    log.register_options(found)
    found([], project="blazar", default_config_files=[], default_config_dirs=[])
    found.set_default("instance_format", INSTANCE_FORMAT)
    return found


def test_a_request_is_told_by_its_ids_and_by_who_makes_it() -> None:
    with serving(CALLER, "lease-1"):
        assert about() == {
            "request_id": REQUEST,
            "global_request_id": GLOBAL,
            "user_id": "u1",
            "project_id": "p1",
            "lease_id": "lease-1",
        }
        assert global_request_id() == GLOBAL

    assert oslo.get_current() is None
    assert global_request_id() is None


def test_what_is_worked_on_comes_beside_what_is_known_and_goes_again() -> None:
    with serving(CALLER):
        with LOG_CONTEXT.working_on(lease_id="lease-1"):
            with LOG_CONTEXT.working_on(reservation_id="reservation-1"):
                inside = about()
            outside = about()

        assert inside == {**about(), "lease_id": "lease-1", "reservation_id": "reservation-1"}
        assert outside == {**about(), "lease_id": "lease-1"}


def test_work_without_a_request_has_its_own_request_id_each_time() -> None:
    seen = []
    for _ in range(2):
        with LOG_CONTEXT.working_on(lease_id="lease-1"):
            seen.append(about()["request_id"])
            assert global_request_id() == seen[-1]

    assert all(re.fullmatch(r"req-[0-9a-f-]{36}", each) for each in seen)
    assert seen[0] != seen[1]
    assert oslo.get_current() is None


def test_a_thread_is_left_as_it_was_also_after_an_error() -> None:
    with arriving(REQUEST, None):
        with pytest.raises(RuntimeError), LOG_CONTEXT.working_on(lease_id="lease-1"):
            raise RuntimeError
        assert about() == {"request_id": REQUEST}


def test_threads_know_nothing_of_each_other() -> None:
    with ThreadPoolExecutor(1) as pool, serving(CALLER):
        assert pool.submit(oslo.get_current).result() is None


@pytest.mark.parametrize("given", ["a\nb", "../../etc", "x" * 37, "", "ü", None])
def test_what_cannot_be_an_id_does_not_go_into_a_log(given: str | None) -> None:
    assert shown_id(given) is None


def test_the_usual_format_shows_request_lease_and_reservation(conf: cfg.ConfigOpts) -> None:
    formatter = formatters.ContextFormatter(config=conf)

    with serving(CALLER, "lease-1"), LOG_CONTEXT.working_on(reservation_id="reservation-1"):
        line = formatter.format(record())

    assert f"[{GLOBAL} {REQUEST} u1 p1" in line
    assert line.endswith("[lease lease-1 reservation reservation-1] something happened")


def test_a_format_of_the_operators_finds_the_ids_by_name(conf: cfg.ConfigOpts) -> None:
    conf.set_override("logging_context_format_string", "%(request_id)s|%(lease_id)s|%(message)s")

    with serving(CALLER, "lease-1"):
        line = formatters.ContextFormatter(config=conf).format(record())

    assert line == f"{REQUEST}|lease-1|something happened"


def test_lines_in_json_have_them_too_and_never_a_token() -> None:
    with serving(CALLER, "lease-1"):
        line = formatters.JSONFormatter().format(record())

    context = json.loads(line)["context"]
    assert (context["request_id"], context["lease_id"]) == (REQUEST, "lease-1")
    assert (context["user_id"], context["project_id"]) == ("u1", "p1")
    assert "secret-token" not in line


def test_a_line_about_nothing_is_written_as_ever(conf: cfg.ConfigOpts) -> None:
    line = formatters.ContextFormatter(config=conf).format(record())

    assert line.endswith("blazar.test [-] something happened")
