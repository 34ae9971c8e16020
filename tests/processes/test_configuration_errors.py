"""Programs report an unusable configuration in one line on the terminal."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from databases import make_database
from programs import free_port, run

COMMANDS = {
    "api": [],
    "manager": [],
    "standalone": ["--listen-port", "0"],
    "manage": ["host", "list"],
    "db_manage": ["current"],
    "status": ["upgrade", "check"],
}
ALL = sorted(COMMANDS)
WITH_DATABASE = ["db_manage", "manage", "manager"]
SIMULATED = "[manager]\ncloud = simulated\n"

Check = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path) -> Check:
    """Return a function that runs a program with a configuration and returns its one-line error message."""

    def refused(name: str, text: str, *arguments: str) -> str:
        path = tmp_path / "blazar.conf"
        path.write_text(f"[standalone]\nstate_dir = {tmp_path / 'state'}\n{text}")
        done = run(f"blazar.cmd.{name}", "--config-file", str(path), *arguments, *COMMANDS[name])
        assert done.returncode == (255 if name == "status" else 1), done.stdout + done.stderr
        assert "Traceback" not in done.stderr + done.stdout
        lines = [each for each in done.stderr.splitlines() if each.startswith("blazar-")]
        assert len(lines) == 1, done.stderr
        return lines[0]

    return refused


@pytest.mark.parametrize("name", ALL)
def test_a_file_that_is_missing(name: str, refused: Check, tmp_path: Path) -> None:
    assert "missing.conf" in refused(name, "", "--config-file", str(tmp_path / "missing.conf"))


@pytest.mark.parametrize("name", ALL)
def test_a_file_that_is_no_configuration(name: str, refused: Check, tmp_path: Path) -> None:
    assert "blazar.conf" in refused(name, "not an option\n")


@pytest.mark.parametrize("name", ["api", "manager", "standalone"])
def test_a_value_that_is_none(name: str, refused: Check) -> None:
    text = "[DEFAULT]\ncleaning_time = soon\nauth_strategy = noauth\nhost = 127.0.0.1\n"
    database = "[database]\nconnection = sqlite://\n" if name == "manager" else ""

    line = refused(name, text + database)

    assert "cleaning_time" in line or "schema is not current" in line


@pytest.mark.parametrize("name", WITH_DATABASE)
@pytest.mark.parametrize("driver", ["mysql+pymysql", "postgresql+psycopg2"])
def test_a_database_that_is_away(name: str, driver: str, refused: Check, tmp_path: Path) -> None:
    text = (
        f"[DEFAULT]\nlog_dir = {tmp_path}\n"
        f"[database]\nmax_retries = {1 if name == 'manager' else 10}\nretry_interval = 1\n"
        f"connection = {driver}://blazar:secret@127.0.0.1:{free_port()}/blazar\n{SIMULATED}"
    )

    line = refused(name, text)

    assert "[database] connection" in line
    assert "secret" not in line


@pytest.mark.parametrize("name", ["db_manage", "manager"])
@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_a_database_that_does_not_know_the_user(name: str, kind: str, refused: Check, tmp_path: Path) -> None:
    with make_database(kind, tmp_path) as engine:
        other = engine.url.set(username="nobody_at_all", password="secret")
        url = other.render_as_string(hide_password=False)

        line = refused(
            name,
            f"[database]\nmax_retries = 1\nretry_interval = 1\nconnection = {url}\n{SIMULATED}",
        )

    assert "[database] connection" in line
    assert "nobody_at_all" in line
    assert "secret" not in line


@pytest.mark.parametrize(("name", "option"), [("api", "port"), ("standalone", "listen-port")])
def test_a_port_that_is_in_use(name: str, option: str, refused: Check) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        text = "[DEFAULT]\nauth_strategy = noauth\nhost = 127.0.0.1\ntransport_url = fake://\n"
        command = COMMANDS[name]
        COMMANDS[name] = [f"--{option}", port]
        try:
            line = refused(name, text)
        finally:
            COMMANDS[name] = command

    assert "in use" in line.lower()
    assert port in line


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = run("blazar.cmd.standalone", "--state-dir", str(tmp_path / "file" / "state"))

    assert done.returncode == 1
    assert done.stderr.startswith("blazar-standalone: [standalone] state_dir: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["api", "standalone"])
@pytest.mark.parametrize("rules", ["[1, 2", "- a list\n"])
def test_a_policy_file_that_cannot_be_used(name: str, rules: str, refused: Check, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(rules)
    text = f"[DEFAULT]\nauth_strategy = noauth\nhost = 127.0.0.1\n[oslo_policy]\npolicy_file = {policy}\n"

    assert refused(name, text)


@pytest.mark.parametrize("name", ["manager", "standalone"])
def test_a_plugin_that_is_unknown(name: str, refused: Check, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state' / 'blazar.sqlite'}"
    (tmp_path / "state").mkdir(mode=0o700)
    database = f"[database]\nconnection = {url}\n"
    path = tmp_path / "schema.conf"
    path.write_text(database)
    run("blazar.cmd.db_manage", "--config-file", str(path), "upgrade", "head")

    line = refused(name, f"{database}[manager]\ncloud = simulated\nplugins = no.such.plugin\n")

    assert "no.such.plugin" in line


@pytest.mark.parametrize("name", ["api", "manage", "manager", "standalone"])
def test_a_key_that_is_unknown(name: str, refused: Check, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state' / 'blazar.sqlite'}"
    (tmp_path / "state").mkdir(mode=0o700)
    database = f"[database]\nconnection = {url}\n"
    path = tmp_path / "schema.conf"
    path.write_text(database)
    run("blazar.cmd.db_manage", "--config-file", str(path), "upgrade", "head")
    more = f"[DEFAULT]\nauth_strategy = noauth\nhost = 127.0.0.1\ntransport_url = fake://\n{SIMULATED}"

    line = refused(name, f"{database}{more}[quotas]\nenabeld = true\n")

    assert line.endswith("blazar.conf: [quotas] enabeld: there is no such option; did you mean enabled?")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("no_show_grace_minutes = physical:tape=60\n", "the use of physical:tape is not observed"),
        ("no_show_grace_minutes = physical:host=0\n", "no_show_grace_minutes"),
        (
            "no_show_grace_minutes = physical:host=60\nobservation_interval_minutes = 0\n",
            "needs [usage_records] observation_interval_minutes above 0",
        ),
    ],
)
def test_a_grace_period_that_cannot_be_kept(lines: str, problem: str, refused: Check) -> None:
    text = f"[DEFAULT]\nauth_strategy = noauth\nhost = 127.0.0.1\n[usage_records]\n{lines}"

    assert problem in refused("standalone", text)
