"""Bulk registration of hosts."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from blazarclient import exception, registering

from .command_samples import HOST

if TYPE_CHECKING:
    from .conftest import Run, Stub

IN_YAML = """
- node-1
- name: node-2
  rack: r1
  gpu: true
  serial: 007
- {name: "node-3"}
"""
MEANT = {"node-1": {}, "node-2": {"rack": "r1", "gpu": "true", "serial": "007"}, "node-3": {}}


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hosts.yaml", IN_YAML),
        ("hosts.yaml", "hosts:" + IN_YAML.replace("\n", "\n  ")),
        ("hosts.csv", "name,rack,gpu,serial\nnode-1,,,\nnode-2, r1, true,007\nnode-3\n"),
        (
            "hosts.json",
            '["node-1", {"name": "node-2", "rack": "r1", "gpu": true, "serial": "007"}, {"name": "node-3"}]',
        ),
    ],
)
def test_hosts_and_capabilities_in_a_file_are_text(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)

    assert registering.read_hosts(str(tmp_path / name)) == MEANT


def test_names_of_hosts_are_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("node-1\nnode-2\n"))

    assert list(registering.read_hosts("-")) == ["node-1", "node-2"]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("h.yaml", "", "expected a list of hosts"),
        ("h.yaml", "nodes: [a]", "expected a list of hosts"),
        ("h.yaml", "- rack: r1", "a host has no name"),
        ("h.yaml", "- [a]", "a host has no name"),
        ("h.yaml", "- {name: a, racks: [r1]}", "a: racks must be text or a number"),
        ("h.yaml", "[a, a]", "host a occurs twice"),
        ("h.yaml", "[a", "expected"),
        ("h.csv", "node,rack\na,r1\n", "including: name"),
        ("h.csv", "name,rack\na,r1,r2\n", "line 2 has more values than columns"),
    ],
)
def test_a_file_without_hosts_is_refused(tmp_path: Path, name: str, text: str, reason: str) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(exception.CommandError, match=reason) as caught:
        registering.read_hosts(str(tmp_path / name))

    assert str(caught.value).startswith(str(tmp_path / name))


# --- parallel requests ------------------------------------------------------------------------------------


def test_requests_run_in_parallel() -> None:
    together = threading.Barrier(4, timeout=20)
    hosts = {f"node-{n}": {"rack": "r1"} for n in range(8)}

    # Each request waits for four requests, so the test fails if fewer run in parallel.
    outcome = registering.register(
        hosts, lambda *_: together.wait(), parallel=4, print_progress=lambda _: None
    )

    assert sorted(outcome.registered) == sorted(hosts)


def test_the_number_of_parallel_requests_is_limited() -> None:
    pairs, lock = threading.Barrier(2, timeout=20), threading.Lock()
    under_way: list[str] = []
    most = 0

    def create(name: str, _extras: object) -> None:
        nonlocal most
        with lock:
            under_way.append(name)
            most = max(most, len(under_way))
        pairs.wait()
        with lock:
            under_way.remove(name)

    outcome = registering.register(
        {str(n): {} for n in range(20)}, create, parallel=2, print_progress=lambda _: None
    )

    assert (len(outcome.registered), most) == (20, 2)


def test_registration_continues_after_a_failure() -> None:
    told: list[str] = []

    def create(name: str, _extras: object) -> None:
        if name == "b":
            raise exception.Conflict("ERROR: servers run on it", code=409, request_id="req-7")

    outcome = registering.register(
        {"a": {}, "b": {}, "c": {}}, create, parallel=1, print_progress=told.append
    )

    assert outcome.registered == ["a", "c"]
    assert outcome.failed == {"b": "ERROR: servers run on it (HTTP 409, req-7)"}
    assert told[1] == "[2/3] b: ERROR: servers run on it (HTTP 409, req-7)"


# --- the command ------------------------------------------------------------------------------------------


def test_hosts_in_a_file_are_registered_with_progress_and_registered_hosts_are_skipped(
    blazar: Run, stub: Stub, tmp_path: Path
) -> None:
    (tmp_path / "hosts.yaml").write_text(IN_YAML)
    stub.respond({"hosts": [HOST]})
    for _ in range(2):
        stub.respond({"host": HOST}, status=201)

    ran = blazar(
        "host-create", "--from-file", "hosts.yaml", "--extra", "rack=r9", "--parallel", "1", "-f", "json"
    )

    assert (ran.code, ran.json) == (
        0,
        {"registered": ["node-2", "node-3"], "skipped": ["node-1"], "failed": []},
    )
    assert ran.err.splitlines() == [
        "[1/2] node-2: registered",
        "[2/2] node-3: registered",
        "2 host(s) registered, 1 already registered, 0 failed",
    ]
    assert stub.calls[1:] == [
        ("POST", "/os-hosts", {"name": "node-2", "rack": "r9", "gpu": "true", "serial": "007"}),
        ("POST", "/os-hosts", {"name": "node-3", "rack": "r9"}),
    ]


def test_the_exit_code_is_1_if_a_host_could_not_be_registered(
    blazar: Run, stub: Stub, tmp_path: Path
) -> None:
    (tmp_path / "hosts.csv").write_text("name\nnode-1\nnode-2\n")
    stub.respond({"hosts": []})
    stub.respond({"error_message": "Host node-1: servers run on it"}, status=409)
    stub.respond({"host": HOST}, status=201)

    ran = blazar("host-create", "--from-file", "hosts.csv", "--parallel", "1", "-f", "json")

    assert (ran.code, ran.json["registered"]) == (1, ["node-2"])
    assert ran.json["failed"] == [
        {"name": "node-1", "error": "ERROR: Host node-1: servers run on it (HTTP 409)"}
    ]
    assert "1 host(s) registered, 0 already registered, 1 failed\n" in ran.err


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--all"], ["node-1", "node-2", "other-1"]),
        (["--match", "node-*"], ["node-1", "node-2"]),
        (["--match", "*-2", "--match", "other-?"], ["node-2", "other-1"]),
        (["--match", "nothing"], []),
    ],
)
def test_hypervisors_in_nova_are_registered(
    blazar: Run, stub: Stub, words: list[str], names: list[str]
) -> None:
    stub.hypervisors = ["node-1", "node-2", "other-1"]
    stub.respond({"hosts": []})
    for _ in names:
        stub.respond({"host": HOST}, status=201)

    ran = blazar("host-create", *words, "-f", "json")

    assert (ran.code, ran.json["registered"]) == (0, names)
    assert sorted(body["name"] for _method, _path, body in stub.calls[1:]) == names
    assert ("No hosts found." in ran.err) == (names == [])


def test_a_pattern_selects_hosts_in_a_file(blazar: Run, stub: Stub, tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text(IN_YAML)
    stub.respond({"hosts": []})

    ran = blazar("host-create", "--from-file", "hosts.yaml", "--match", "*-[23]", "--dry-run", "-f", "json")

    assert ran.json == {
        "hosts": [{"name": "node-2", "rack": "r1", "gpu": "true", "serial": "007"}, {"name": "node-3"}],
        "skipped": [],
    }
    assert "Nothing was sent. 2 host(s) would be registered:" in ran.err
    assert [each.method for each in stub.sent] == ["GET"]


def test_a_dry_run_for_one_host_prints_the_request(blazar: Run, stub: Stub) -> None:
    ran = blazar("host-create", "node-1", "--extra", "rack=r1", "--dry-run", "-f", "json")

    assert (ran.code, ran.json, stub.sent) == (0, {"name": "node-1", "rack": "r1"}, [])


def test_a_cloud_without_nova_is_a_one_line_error(blazar: Run, stub: Stub) -> None:
    ran = blazar("host-create", "--all")

    assert (ran.code, ran.out, ran.err.count("\n"), stub.sent) == (1, "", 1, [])
    assert ran.err.startswith("Cannot list hypervisors: ")
    assert ran.err.endswith("; use --from-file with the names of the hosts\n")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "the following arguments are required: HOST, --from-file, --match or --all"),
        (["node-1", "--all"], "argument HOST: not allowed"),
        (["--all", "--match", "x"], "argument --match: not allowed with --all"),
        (["--all", "--from-file", "x"], "not allowed with"),
        (["--all", "--parallel", "0"], "must be at least 1"),
    ],
)
def test_missing_or_conflicting_selections_of_hosts_are_refused(
    blazar: Run, stub: Stub, words: list[str], reason: str
) -> None:
    ran = blazar("host-create", *words)

    assert (ran.code, stub.sent) == (2, [])
    assert reason in ran.err
