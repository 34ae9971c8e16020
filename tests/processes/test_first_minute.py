"""The embedded service: the first minute, and continued use in a lab."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import Program, request, run, start_standalone

from blazar.standalone.machines import read_machines

End = Callable[[Any], Any]

MACHINES = """
machines:
  - name: node-1
    vcpus: 64
    memory_mb: 262144
    disk_gb: 1800
    properties: {rack: r1, gpu: a100}
  - name: node-2
    properties: {rack: r2}
"""


def _steps(program: Program) -> list[str]:
    lines = iter(program.line, "Next, in another terminal:\n")
    assert [each.partition(" at ")[0] for each in lines] == ["its console is"]
    return [program.line().strip() for _ in range(5)]


@pytest.mark.parametrize("arguments", [(), ("--examples",)])
def test_the_commands_that_it_suggests_succeed(
    arguments: tuple[str, ...], tmp_path: Path, ended_afterwards: End
) -> None:
    program, _ = start_standalone(tmp_path, *arguments)
    ended_afterwards(program)

    script = "set -e\n" + "\n".join(_steps(program))
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 0, done.stderr
    assert "host-" in done.stdout


def test_its_examples_have_racks_gpus_and_addresses(tmp_path: Path, ended_afterwards: End) -> None:
    hosts: list[dict[str, Any]] = []
    addresses: list[object] = []
    for _ in range(2):
        program, url = start_standalone(tmp_path, "--examples")
        ended_afterwards(program)
        hosts = request(f"{url}/os-hosts")[1]["hosts"]
        addresses = request(f"{url}/floatingips")[1]["floatingips"]
        program.stop()

    assert {each["rack"] for each in hosts} == {"r1", "r2"}
    assert len([each for each in hosts if "gpu" in each]) == 2
    assert (len(hosts), len(addresses)) == (8, 4)


def _hosts(url: str) -> dict[str, dict[str, Any]]:
    return {each["hypervisor_hostname"]: each for each in request(f"{url}/os-hosts")[1]["hosts"]}


def test_machines_of_a_file_become_its_hosts(tmp_path: Path, ended_afterwards: End) -> None:
    file = tmp_path / "machines.yaml"
    file.write_text(MACHINES)
    state = tmp_path / "state"

    program, url = start_standalone(state, "--machines", str(file))
    ended_afterwards(program)
    first = _hosts(url)
    program.stop()
    file.write_text(
        MACHINES.replace("64", "96", 1).replace("{rack: r2}", "{row: '7'}").replace("node-1", "node-3")
    )
    program, url = start_standalone(state, "--machines", str(file))
    ended_afterwards(program)
    second = _hosts(url)

    assert first.keys() == {"node-1", "node-2"}
    assert (first["node-1"]["vcpus"], first["node-1"]["gpu"]) == (64, "a100")
    assert second.keys() == {"node-2", "node-3"}
    assert second["node-3"]["vcpus"] == 96
    assert "rack" not in second["node-2"]
    assert second["node-2"]["row"] == "7"
    assert second["node-2"]["id"] == first["node-2"]["id"]


def test_a_machine_that_is_leased_cannot_leave_the_file(tmp_path: Path, ended_afterwards: End) -> None:
    file = tmp_path / "machines.yaml"
    file.write_text(MACHINES)
    options = ["--machines", str(file)]
    program, url = start_standalone(tmp_path / "state", *options)
    ended_afterwards(program)
    lease = {
        "name": "l",
        "start_date": "now",
        "end_date": "9000-01-01 00:00",
        "reservations": [
            {
                "resource_type": "physical:host",
                "min": 2,
                "max": 2,
                "hypervisor_properties": "",
                "resource_properties": "",
            }
        ],
    }
    assert request(f"{url}/leases", "POST", lease)[0] == 201
    program.stop()
    file.write_text("machines: [{name: node-1}]\n")

    command = ["--state-dir", str(tmp_path / "state"), "--listen-port", "0", *options]
    done = run("blazar.cmd.standalone", *command)

    assert done.returncode == 1
    assert "node-2 is no longer in the file, but cannot be removed" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("machines: 3", "must have a list named machines"),
        ("- name: x", "must have a list named machines"),
        ("machines: [{}]", "machine 1 has no name"),
        ("machines: [{name: a}, {name: a}]", "a is named twice"),
        ("machines: [{name: a, vcpu: 3}]", "unknown key vcpu"),
        ("machines: [{name: a, vcpus: many}]", "vcpus must be a number"),
        ("machines: [", "is not YAML"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(text: str | None, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "machines.yaml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(ValueError, match=problem):
        read_machines(file)
