"""A resource plugin in a separate distribution, installed next to the service."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser.chromium import open_chromium
from browser.console import open_console
from playwright.sync_api import expect
from programs import Program, request, run, start_standalone, wait_until

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugin"
SOURCES = {
    "blazar": (ROOT, ("pyproject.toml", "README.md", "LICENSE", "src")),
    "client": (ROOT / "client", ("pyproject.toml", "README.md", "LICENSE", "src")),
    "plugin-testing": (ROOT / "plugin-testing", ("pyproject.toml", "README.md", "LICENSE", "src")),
    "licences": (EXAMPLE, ("pyproject.toml", "README.md", "src", "tests")),
}
"""Files to copy, so that building leaves nothing in the working tree."""
BUILT = shutil.ignore_patterns("*.egg-info", "__pycache__")
INSTALL = ("install", "--quiet", "--no-input", "--no-deps", "--no-index", "--no-build-isolation")
SUITE_SECONDS = 900
STOCK = ("discovery", "list")
FAR = "9000-01-01 00:00"
FOR_CONSOLE = ROOT / "console" / "tests" / "dongles.json"
"""The collection of dongles in the catalogue, with which the console is tested."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an environment, ``env``, with the service, the test tools and the plugin.

    Libraries come from the environment of this test, except those that are installed there as editable.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "env", symlinks=True)
    python = folder / "env" / "bin" / "python"
    (own,) = (folder / "env").glob("lib/python*/site-packages")
    # This adds only the path; .pth files in that folder are not read.
    (own / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    for name, (source, parts) in SOURCES.items():
        for part in parts:
            (folder / name).mkdir(exist_ok=True)
            if (source / part).is_dir():
                shutil.copytree(source / part, folder / name / part, ignore=BUILT)
            else:
                shutil.copy(source / part, folder / name)
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(python), *INSTALL, str(folder / name)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    shutil.rmtree(folder / "blazar")
    shutil.rmtree(folder / "licences" / "src")
    return folder


@pytest.fixture
def python(environment: Path) -> str:
    """Return the environment's Python."""
    return str(environment / "env" / "bin" / "python")


@pytest.fixture
def licence_server(python: str, ended_afterwards: Callable[[Any], Any]) -> str:
    """Return the URL of a licence server with five seats of one product."""
    program = Program("blazar_licences.server", "--port", "0", "--pool", "site=cad:5", python=python)
    ended_afterwards(program)
    return program.line().split(" at ")[1].strip()


def configuration(tmp_path: Path, endpoint: str) -> list[str]:
    """Return the options that name a configuration with the plugin."""
    path = tmp_path / "blazar.conf"
    path.write_text(
        f"[database]\nconnection = sqlite:///{tmp_path}/blazar.sqlite\n"
        "[manager]\nplugins = physical.host.plugin,software.licence.plugin\ncloud = simulated\n"
        f"[software:licence]\n{endpoint}\n"
    )
    return ["--config-file", str(path)]


def wish(seats: object, **keys: object) -> dict[str, object]:
    """Return a request for a lease of licences that starts now."""
    asked = {"resource_type": "software:licence", "product": "cad", "seats": seats, **keys}
    return {"name": "cad", "start_date": "now", "end_date": FAR, "reservations": [asked]}


def test_all_are_installed_and_none_comes_from_the_working_tree(environment: Path, python: str) -> None:
    names = "blazar, blazar_licences, blazar_plugin_testing"
    code = f"import {names}; print(*(each.__file__ for each in ({names})))"

    said = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout

    assert [Path(each).is_relative_to(environment / "env") for each in said.split()] == [True] * 3


def test_the_plugin_passes_its_own_tests_and_the_suite_that_the_service_ships(
    environment: Path, python: str
) -> None:
    options = ("-q", "-p", "no:cacheprovider")
    done = run("pytest", *options, python=python, cwd=environment / "licences", seconds=SUITE_SECONDS)

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    assert "failed" not in done.stdout
    assert " passed" in done.stdout


def test_licences_are_reserved_over_http(
    tmp_path: Path, python: str, licence_server: str, ended_afterwards: Callable[[Any], Any]
) -> None:
    options = configuration(tmp_path, f"endpoint = {licence_server}")
    program, url = start_standalone(tmp_path, *options, python=python)
    ended_afterwards(program)

    def granted() -> list[int]:
        return [each["seats"] for each in request(f"{licence_server}/grants")[1]["grants"]]

    def status(lease_url: str) -> str:
        return str(request(lease_url)[1]["lease"]["status"])

    # The manager runs discovery when it starts.
    assert wait_until(lambda: "is sound" in run("blazar.cmd.manage", *options, *STOCK, python=python).stdout)
    code, body = request(f"{url}/leases", "POST", wish(3))
    assert code == 201, body
    first = f"{url}/leases/{body['lease']['id']}"
    assert wait_until(lambda: status(first) == "ACTIVE"), program.log
    assert granted() == [3]

    code, refusal = request(f"{url}/leases", "POST", wish(3))
    assert (code, refusal["error_message"].partition(":")[0]) == (400, "Not enough seats available")
    code, refusal = request(f"{url}/leases", "POST", wish("none"))
    assert (code, refusal["error_message"]) == (400, "seats: must be a whole number")
    assert request(f"{url}/os-hosts", "POST", {"name": "host-1"})[0] == 201
    (shown,) = request(first)[1]["lease"]["reservations"]
    assert (shown["product"], shown["seats"], len(shown["grants"])) == ("cad", 3, 1)

    program.kill()
    program, url = start_standalone(tmp_path, *options, python=python)
    ended_afterwards(program)
    first = f"{url}/leases/{body['lease']['id']}"
    code, second = request(f"{url}/leases", "POST", wish(2))
    assert code == 201
    assert wait_until(lambda: sorted(granted()) == [2, 3]), program.log
    listed = run("blazar.cmd.manage", *options, *STOCK, python=python)
    assert listed.stdout == "licence site (5 SEATS) is sound\n", listed.stderr

    assert request(first, "DELETE") == (204, None)
    assert granted() == [2]
    ended = {"end_date": "now"}
    assert request(f"{url}/leases/{second['lease']['id']}", "PUT", ended)[0] == 200
    assert wait_until(lambda: granted() == []), program.log
    assert program.stop() == 0


@pytest.fixture
def dongle_service(
    tmp_path: Path, python: str, ended_afterwards: Callable[[Any], Any]
) -> tuple[Program, str]:
    """Return a service with hosts and dongles, and the URL of its API."""
    path = tmp_path / "blazar.conf"
    path.write_text(
        f"[database]\nconnection = sqlite:///{tmp_path}/blazar.sqlite\n"
        "[manager]\nplugins = physical.host.plugin,hardware.dongle.plugin\ncloud = simulated\n"
        "[ui]\nsession_keys = a secret that is long enough to be one\n"
    )
    program, url = start_standalone(tmp_path, "--config-file", str(path), python=python)
    ended_afterwards(program)
    return program, url


def test_dongles_are_registered_by_commands_of_the_plugin_and_reserved(
    python: str, dongle_service: tuple[Program, str]
) -> None:
    program, url = dongle_service
    service = ("--os-auth-type", "none", "--os-endpoint", url.removesuffix("/v1"))

    def dongle(*words: str) -> Any:
        return run("openstackclient.shell", *service, "reservation", "dongle", *words, python=python)

    _, found = request(f"{url}/catalogue", version="1.1")
    [described] = [each for each in found["catalogue"]["collections"] if each["path"] == "dongles"]
    assert described == json.loads(FOR_CONSOLE.read_text())
    assert dongle("create", "D-1", "--product", "cad", "--drawer", "A3").returncode == 0
    assert dongle("create", "D-1", "--product", "cad").returncode == 1
    assert dongle("create", "D-2", "--product", "writer").returncode == 0
    assert dongle("set", "D-2", "--drawer", "B1").stdout == "Updated dongle: D-2\n"
    columns = ("-c", "name", "-c", "product", "-c", "drawer", "-f", "value")
    assert dongle("list", *columns).stdout == "D-1 cad A3\nD-2 writer B1\n"

    asked = {"resource_type": "hardware:dongle", "product": "cad"}
    wish = {"name": "exam", "start_date": "now", "end_date": FAR, "reservations": [asked]}
    code, body = request(f"{url}/leases", "POST", wish)
    assert code == 201, body
    lease_url = f"{url}/leases/{body['lease']['id']}"
    assert wait_until(lambda: request(lease_url)[1]["lease"]["status"] == "ACTIVE"), program.log
    code, refusal = request(f"{url}/leases", "POST", wish)
    assert (code, refusal["error_message"].partition(":")[0]) == (400, "Not enough dongles available")
    refused = dongle("delete", "D-1")
    assert refused.returncode == 1
    assert "D-1 is reserved, now or later, or is being cleaned" in refused.stderr
    assert dongle("delete", "D-2").returncode == 0

    assert request(lease_url, "DELETE") == (204, None)
    assert wait_until(lambda: dongle("delete", "D-1").returncode == 0), program.log
    assert request(f"{url}/dongles")[1] == {"dongles": []}
    assert program.stop() == 0


def test_the_console_has_dongles_without_a_change(dongle_service: tuple[Program, str]) -> None:
    _, url = dongle_service
    with open_chromium() as browser:
        console = open_console(browser, url.removesuffix("/v1"))
        page = console.page

        page.get_by_role("link", name="Operators").click()
        page.get_by_role("link", name="Resources").click()
        dongles = page.get_by_role("region", name="dongles")
        dongles.get_by_role("button", name="Register", exact=True).click()
        dongles.get_by_label("One resource a line").fill("D-1 product=cad drawer=A3")
        dongles.get_by_role("button", name="Register", exact=True).last.click()
        expect(dongles.get_by_role("row", name="D-1")).to_contain_text("A3")
        page.get_by_role("link", name="Reserve").click()
        console.want(Resources="any dongle (1)")
        page.get_by_label("Keys of the reservation, as JSON").fill('{"product": "cad"}')
        lease = console.reserve("exam")
        lease.get_by_role("button", name="Details").click()
        expect(lease).to_contain_text("D-1")

        assert console.complaints == []


def test_a_plugin_that_cannot_use_its_options_stops_the_start_up(tmp_path: Path, python: str) -> None:
    options = configuration(tmp_path, "token = secret")

    done = run("blazar.cmd.standalone", "--state-dir", str(tmp_path), *options, python=python)

    assert done.returncode == 1
    assert (
        "software.licence.plugin could not be loaded: [software:licence] endpoint: is not set" in done.stderr
    )
