"""Listings of ``blazar-manage`` as JSON: one document on stdout, with stable keys and times in UTC."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from app.floatingips import Pool, address
from app.http_env import HttpEnv
from samples import know_a_lease

from blazar.cmd.manage import add_parsers
from blazar.domain.errors import Conflict, NotFound

pytestmark = pytest.mark.usefixtures("hosts")

MISSING_ID = "11111111-2222-4333-8444-555555555555"
PRINTING = {"list", "show", "history", "check", "sweep", "import"}
"""The last words of the commands that print results."""

Manage = Callable[..., tuple[int, Any]]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the sub-commands."""
    made = argparse.ArgumentParser()
    add_parsers(made.add_subparsers(required=True))
    return made


def commands(of: argparse.ArgumentParser, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command that can be run, as its words and its parser."""
    groups = [each for each in of._actions if isinstance(each, argparse._SubParsersAction)]
    if not groups:
        yield words, of
    for group in groups:
        for word, inner in group.choices.items():
            yield from commands(inner, *words, word)


@pytest.fixture
def manage(env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> Manage:
    """Return a function that runs a command with ``-f json`` and returns the exit code and the document."""

    def run(*words: str) -> tuple[int, Any]:
        arguments = parser().parse_args([*words, "-f", "json"])
        capsys.readouterr()
        code = arguments.run(env.context, arguments)
        return code, json.loads(capsys.readouterr().out)

    return run


def test_every_command_that_prints_what_was_found_has_the_option() -> None:
    found = {words for words, each in commands(parser()) if words[-1] in PRINTING}

    without = [
        words
        for words, each in commands(parser())
        if words in found and "--format" not in each._option_string_actions
    ]

    assert {("lease", "list"), ("lease", "history")} <= found
    assert without == []


def test_the_history_of_a_lease(env: HttpEnv, manage: Manage) -> None:
    lease = env.create("now", 10)

    code, (first, *_) = manage("lease", "history", lease["id"])

    assert code == 0
    assert first.pop("request_id").startswith("req-")
    assert first == {
        "at": "2031-01-01T00:00:20Z",
        "event": "create",
        "lease_id": lease["id"],
        "reservation_id": None,
        "reason": None,
        "actor": "user",
    }


def test_nothing_found_is_an_empty_list(manage: Manage) -> None:
    assert manage("lease", "history", MISSING_ID) == (1, [])
    assert manage("outbox", "list", "--waiting") == (0, [])
    assert manage("discovery", "list") == manage("stock", "list") == (0, [])


def test_hosts(env: HttpEnv, manage: Manage) -> None:
    code, found = manage("host", "list")

    assert (code, [each["hypervisor_hostname"] for each in found]) == (0, ["h1", "h2", "h3", "h4"])
    assert set(found[0]) == {"id", "hypervisor_hostname", "service_name", "health", "problem"}
    assert (found[0]["health"], found[0]["problem"]) == ("sound", None)


def test_floating_ips(env: HttpEnv, pool: Pool, manage: Manage) -> None:
    pool.register(1, 2)
    taken = env.cloud.networks.create_floating_ip(pool.network_id, pool.subnet_id, address(1), "stranger")

    code, checked = manage("floatingip", "check")

    assert (code, checked["compared"]) == (1, 2)
    [failed] = checked["failed"]
    assert failed["address"] == str(address(1))
    assert f"is in use in Neutron: floating IP {taken.id}" in failed["problem"]
    code, (first, second) = manage("floatingip", "list")
    assert (code, first["health"], first["problem"]) == (0, "failed", failed["problem"])
    assert (second["address"], second["network_id"], second["health"]) == (
        str(address(2)),
        pool.network_id,
        "sound",
    )


def test_what_a_project_has_reserved(env: HttpEnv, manage: Manage) -> None:
    env.create(60, 120, min=2, max=2)

    code, found = manage("quota", "show", "project")

    assert code == 0
    assert (found["project_id"], found["are_limits_enabled"]) == ("project", False)
    assert {each["name"]: each["reserved"] for each in found["amounts"]} == {
        "leases": 1,
        "host_hours_ahead": 2,
        "reserved_hosts": 2,
    }
    assert all(each["limit"] is None and each["is_counted"] for each in found["amounts"])


def test_a_project_is_found_by_its_name(env: HttpEnv, manage: Manage) -> None:
    env.cloud.add_project("project", "physics")
    env.create(60, 120, min=2, max=2)

    code, found = manage("quota", "show", "physics")

    assert (code, found) == manage("quota", "show", "project")
    assert (code, found["project_id"]) == (0, "project")


def test_a_name_of_several_projects_is_refused_with_their_ids(env: HttpEnv, manage: Manage) -> None:
    env.cloud.add_project("p1", "physics")
    env.cloud.add_project("p2", "physics", "other")

    with pytest.raises(Conflict, match=r"p1 \(domain default\), p2 \(domain other\)"):
        manage("quota", "show", "physics")


def test_an_unknown_project_is_refused(env: HttpEnv, manage: Manage) -> None:
    env.cloud.add_project("project", "physics")

    with pytest.raises(NotFound, match="chemistry"):
        manage("quota", "show", "chemistry")
    code, found = manage("quota", "show", "0" * 32)

    assert (code, found["amounts"]) == (0, [{**found["amounts"][0], "name": "leases", "reserved": 0}])


def test_messages(env: HttpEnv, manage: Manage) -> None:
    lease = env.create(60, 120)

    code, [listed] = manage("outbox", "list", "--waiting")
    _, shown = manage("outbox", "show", str(listed["id"]))

    assert (code, listed["event_type"], listed["lease_id"]) == (0, "lease.create", lease["id"])
    assert (listed["next_try_at"], listed["given_up_at"]) == ("2031-01-01T00:00:20Z", None)
    assert shown.pop("payload")["lease_id"] == lease["id"]
    assert shown == listed


def test_a_sweep(env: HttpEnv, manage: Manage) -> None:
    know_a_lease(env.context.store)
    env.cloud.aggregates.create_aggregate(MISSING_ID, f"blazar_{MISSING_ID}", {"blazar:owner": "project"})

    assert manage("sweep", "--dry-run") == (
        0,
        {"leftovers": [f"aggregate:{MISSING_ID}"], "is_sweep_scheduled": False},
    )
