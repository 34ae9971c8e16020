"""The Ansible role installs, configures and upgrades a machine: here, in folders of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from broker import broker_url
from databases import make_empty_database
from oslo_config import cfg
from programs import fetch, free_port, request, wait_until
from test_distributions import WHEEL, copied

import blazar
from blazarclient import version as client_version
from rig.units import Units

ROOT = Path(__file__).resolve().parents[2]
NEXT = "999.0.0"
"""The version of the release to which the test upgrades."""
PLAY_SECONDS = 600
DISTRIBUTIONS = ("blazar", "python-blazarclient", "blazar-nova")


def build_wheel(name: str, folder: Path, version: str | None = None) -> None:
    """Build the wheel of a distribution from the tree into a folder; *version* replaces the service's own."""
    source = copied(name, folder / f"source-{uuid.uuid4().hex}")
    if version is not None:
        module = source / "src" / "blazar" / "__init__.py"
        text, count = re.subn(r'__version__ = ".*"', f'__version__ = "{version}"', module.read_text())
        assert count == 1
        module.write_text(text)
    command = [sys.executable, "-m", "pip", *WHEEL, "--wheel-dir", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    shutil.rmtree(source)


@dataclass(slots=True)
class Machine:
    """The folders of a machine, and its units."""

    folder: Path
    variables: dict[str, Any]
    units: Units = field(init=False)

    def __post_init__(self) -> None:
        self.units = Units(self.folder / "units", self.folder)

    def play(self, **changes: Any) -> Mapping[str, int]:
        """Run the playbook; return how many tasks were ok, changed, and so on."""
        self.variables.update(changes)
        (self.folder / "variables.json").write_text(json.dumps(self.variables))
        environment = {
            **os.environ,
            "ANSIBLE_HOME": str(self.folder / "ansible"),
            "ANSIBLE_STDOUT_CALLBACK": "default",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "0",
            # Compiling all libraries takes a large part of the time.
            "PIP_COMPILE": "0",
        }
        command = [
            str(Path(sys.executable).with_name("ansible-playbook")),
            *("--inventory", str(self.folder / "inventory")),
            *("--extra-vars", f"@{self.folder / 'variables.json'}"),
            str(ROOT / "ansible" / "site.yml"),
        ]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PLAY_SECONDS,
            check=False,
            # As on a hardened machine.
            umask=0o077,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        (self.folder / "last-play").write_text(done.stdout)
        (line,) = re.findall(r"^blazar-here\s+: (.*)$", done.stdout, re.MULTILINE)
        return {key: int(value) for key, value in (each.split("=") for each in line.split())}

    def changed_tasks(self) -> list[str]:
        """Return the tasks of the last play that changed something."""
        parts = re.split(
            r"^(?:TASK|RUNNING HANDLER) \[(?:blazar : )?(.*?)\] \*+$", self.text(), flags=re.MULTILINE
        )
        return [name for name, text in zip(parts[1::2], parts[2::2], strict=True) if "changed: [" in text]

    def text(self) -> str:
        return (self.folder / "last-play").read_text()

    def serve(self) -> str:
        """Start the units, and return the URL of the API when it answers."""
        url = f"http://{self.variables['blazar_api_listen']}"
        self.units.start("blazar-manager.service")
        self.units.start("blazar-api.service")
        assert wait_until(lambda: answers(f"{url}/v1/leases")), self.units.log()
        return url

    def version(self) -> str:
        """Return what the manager in use says of its version."""
        program = self.folder / "prefix" / "current" / "bin" / "blazar-manager"
        return subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=True
        ).stdout.strip()


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python whose environments have the dependencies of this one, so that installing takes seconds.

    They have neither the distributions of the tree nor uWSGI, whose program each environment needs.
    """
    folder = tmp_path_factory.mktemp("python")
    packages = folder / "packages"
    packages.mkdir()
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if not re.match(r"__editable__|blazar|python_blazarclient|.*uwsgi|pip", each.name, re.IGNORECASE):
            (packages / each.name).symlink_to(each)
    program = folder / "python"
    site = f"$environment/lib/python3.{sys.version_info.minor}/site-packages"
    program.write_text(
        "#!/bin/sh -e\n"
        f'"{sys.executable}" "$@"\n'
        "for environment; do :; done\n"
        f'[ ! -d "{site}" ] || echo "{packages}" > "{site}/more.pth"\n'
    )
    program.chmod(0o755)
    return program


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheels of this release and of the next one."""
    folder = tmp_path_factory.mktemp("wheels")
    for each in DISTRIBUTIONS:
        build_wheel(each, folder)
    build_wheel("blazar", folder, NEXT)
    return folder


def variables_of(folder: Path, wheels: Path, database: str) -> dict[str, Any]:
    """Return the variables with which nothing outside of a folder is touched."""
    return {
        "ansible_python_interpreter": sys.executable,
        "blazar_components": ["api", "manager", "filter", "client"],
        "blazar_wheels": str(wheels),
        "blazar_version": blazar.__version__,
        "blazar_constraints": str(ROOT / "constraints.txt"),
        "blazar_prefix": str(folder / "prefix"),
        "blazar_config_folder": str(folder / "etc"),
        "blazar_state_folder": str(folder / "state"),
        "blazar_log_folder": str(folder / "log"),
        "blazar_unit_folder": str(folder / "units"),
        "blazar_client_prefix": str(folder / "client"),
        "blazar_manage_account": False,
        "blazar_user": os.geteuid(),
        "blazar_group": os.getegid(),
        "blazar_config_owner": os.geteuid(),
        "blazar_manage_services": False,
        "blazar_restart_command": f"{sys.executable} {folder / 'restart.py'}",
        "blazar_database_connection": database,
        "blazar_transport_url": broker_url(),
        "blazar_api_listen": f"127.0.0.1:{free_port()}",
        "blazar_api_processes": 1,
        "blazar_config": {
            "DEFAULT": {"auth_strategy": "noauth"},
            "manager": {"cloud": "simulated", "rpc_topic": f"blazar.test.{uuid.uuid4().hex}"},
        },
        "blazar_nova_pip": str(folder / "nova" / "bin" / "pip"),
        "blazar_nova_config_folder": str(folder / "nova-conf"),
        "blazar_nova_restart_command": f"touch {folder}/restarted-nova",
    }


@pytest.fixture
def machine(tmp_path: Path, wheels: Path, python: Path) -> Iterator[Machine]:
    """Yield a machine on which nothing is installed."""
    write_inventory(tmp_path)
    # Notes the units that are restarted.
    (tmp_path / "restart.py").write_text(
        f"import pathlib, sys; (pathlib.Path({str(tmp_path)!r}) / ('restarted-' + sys.argv[1])).touch()"
    )
    subprocess.run([python, "-m", "venv", tmp_path / "nova"], check=True)
    with ExitStack() as stack:
        engine = stack.enter_context(make_empty_database("mariadb", tmp_path))
        found = Machine(
            tmp_path,
            {
                **variables_of(tmp_path, wheels, engine.url.render_as_string(hide_password=False)),
                "blazar_python": str(python),
            },
        )
        stack.callback(found.units.stop)
        yield found


@pytest.fixture
def bare_machine(tmp_path: Path) -> Machine:
    """Return a machine for plays that are refused before anything is installed."""
    write_inventory(tmp_path)
    return Machine(tmp_path, variables_of(tmp_path, tmp_path / "wheels", "mysql+pymysql://nowhere/blazar"))


def write_inventory(folder: Path) -> None:
    """Write the inventory of this machine."""
    (folder / "inventory").write_text("[blazar]\nblazar-here ansible_connection=local\n")


def mode(path: Path) -> int:
    """Return the permissions of a file."""
    return path.stat().st_mode & 0o777


def answers(url: str) -> bool:
    try:
        return fetch(url)[0] == 200
    except OSError:
        return False


def read_back(folder: Path, variables: Mapping[str, Any]) -> cfg.ConfigOpts:
    """Return the options that the service reads in the configuration of some variables."""
    role, written = ROOT / "ansible" / "roles" / "blazar", folder / "blazar.conf"
    (folder / "variables.json").write_text(json.dumps(variables))
    command = [
        *(str(Path(sys.executable).with_name("ansible")), "localhost", "--inventory", "localhost,"),
        *("--connection", "local", "--extra-vars", f"ansible_python_interpreter={sys.executable}"),
        *("--extra-vars", f"@{role / 'defaults' / 'main.yml'}"),
        *("--extra-vars", f"@{folder / 'variables.json'}"),
        *("--module-name", "ansible.builtin.template"),
        *("--args", f"src={role / 'templates' / 'blazar.conf.j2'} dest={written}"),
    ]
    environment = {**os.environ, "ANSIBLE_HOME": str(folder / "ansible")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    conf = cfg.ConfigOpts()
    conf.register_opts([cfg.StrOpt("transport_url"), cfg.StrOpt("os_region_name"), cfg.StrOpt("state_path")])
    conf.register_opts([cfg.StrOpt("connection")], group="database")
    for group in ("keystone", "keystone_authtoken"):
        conf.register_opts([cfg.StrOpt("password"), cfg.ListOpt("memcached_servers")], group=group)
    conf(["--config-file", str(written)], project="blazar")
    return conf


def test_passwords_are_read_as_they_were_given(tmp_path: Path) -> None:
    password = "$a$$b ${c}%d#e;f"

    conf = read_back(
        tmp_path,
        {
            "blazar_transport_url": f"rabbit://{password}",
            "blazar_database_connection": f"mysql://{password}",
            "blazar_keystone": {"password": password},
            "blazar_keystone_authtoken": {"memcached_servers": ["one$1", "two"]},
            "blazar_config": {"DEFAULT": {"state_path": "/srv/$os_region_name", "os_region_name": "a$$b"}},
        },
    )

    assert conf.transport_url == f"rabbit://{password}"
    assert conf.database.connection == f"mysql://{password}"
    assert (conf.keystone.password, conf.keystone_authtoken.password) == (password, password)
    assert conf.keystone_authtoken.memcached_servers == ["one$1", "two"]
    # These are text for oslo.config.
    assert conf.os_region_name == "a$b"
    assert conf.state_path == "/srv/a$b"


def test_quotes_and_blanks_around_passwords_are_part_of_them(tmp_path: Path) -> None:
    conf = read_back(
        tmp_path,
        {
            "blazar_transport_url": "'",
            "blazar_database_connection": " blank ",
            "blazar_keystone": {"password": '"quoted"'},
            "blazar_keystone_authtoken": {"password": "'a' and 'b'"},
        },
    )

    assert (conf.transport_url, conf.database.connection) == ("'", " blank ")
    assert (conf.keystone.password, conf.keystone_authtoken.password) == ('"quoted"', "'a' and 'b'")


@pytest.mark.timeout(1800)
def test_a_machine_is_installed_left_alone_and_upgraded(machine: Machine) -> None:
    nova_folder = Path(machine.variables["blazar_nova_config_folder"])
    nova_folder.mkdir(mode=0o750)

    machine.play()

    assert mode(nova_folder) == 0o750
    assert mode(machine.folder / "etc" / "blazar.conf") == 0o640
    for program in ("prefix/current/bin/blazar-manager", "client/bin/blazar"):
        assert mode(machine.folder / program) & 0o005 == 0o005
    first = machine.serve()
    lease = {"name": "l", "start_date": "now", "end_date": "9000-01-01 00:00"}
    assert request(f"{first}/v1/leases", "POST", lease)[0] == 201
    assert machine.version() == blazar.__version__
    client = [str(machine.folder / "client" / "bin" / "blazar"), "--version"]
    assert client_version.__version__ in subprocess.run(client, capture_output=True, text=True).stdout
    check = "import blazarnova.scheduler.filters, blazarnova.options"
    subprocess.run([machine.folder / "nova" / "bin" / "python", "-c", check], check=True)
    machine.units.stop()

    # Another configuration restarts the service; the second time, nothing else is to be done.
    restarted = sorted(machine.folder.glob("restarted-*"))
    for each in restarted:
        each.unlink()
    machine.play(blazar_api_threads=4)
    assert machine.changed_tasks() == ["Write the units", "Restart the units by a command"]
    assert sorted(machine.folder.glob("restarted-*")) == [
        each for each in restarted if each.name != "restarted-nova"
    ]

    machine.play(blazar_version=NEXT)
    assert set(machine.changed_tasks()) == {
        "Install the wheel of the release",
        "Install the release",
        "Use the release",
        "Restart the units by a command",
    }
    assert machine.version() == NEXT
    assert request(f"{machine.serve()}/v1/leases")[1]["leases"][0]["name"] == "l"
    assert (machine.play()["changed"], machine.changed_tasks()) == (0, [])


def test_missing_variables_are_named(bare_machine: Machine) -> None:
    with pytest.raises(AssertionError, match="Set blazar_version, blazar_database_connection"):
        bare_machine.play(blazar_transport_url="")


@pytest.mark.parametrize("password", ["a\\$b", "two\nlines"])
def test_a_password_that_no_configuration_file_can_have_is_refused(
    bare_machine: Machine, password: str
) -> None:
    with pytest.raises(AssertionError, match="blazar_keystone has a line break, or a backslash") as refusal:
        bare_machine.play(blazar_keystone={"password": password})

    # The output names the variable only.
    assert password.encode("unicode_escape").decode() not in str(refusal.value)
