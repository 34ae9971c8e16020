"""The embedded service next to an installed one, and with limited access to its machine."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from databases import make_database
from programs import request, run, start_standalone

from blazar.db.revisions import head_revision
from blazar.db.schema import upgrade

End = Callable[[Any], Any]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the database, one revision behind, of a service with its configuration at the default path."""
    home = tmp_path / "home"
    folder = home / ".blazar"
    (folder / "blazar.conf.d").mkdir(parents=True)
    database = tmp_path / "production.sqlite"
    url = f"sqlite:///{database}"
    (folder / "blazar.conf").write_text(f"[database]\nconnection = {url}\n[manager]\ncloud = openstack\n")
    (folder / "blazar.conf.d" / "more.conf").write_text(f"[database]\nconnection = {url}\n")
    (folder / "policy.yaml").write_text('"blazar:leases:get": "!"\n')
    engine = sa.create_engine(url)
    upgrade(engine, f"{int(head_revision()) - 1:04}")
    engine.dispose()
    monkeypatch.setenv("HOME", str(home))
    return database


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_configuration_of_an_installed_service_is_not_read(
    installed: Path, tmp_path: Path, ended_afterwards: End
) -> None:
    before = _digest(installed)

    program, url = start_standalone(tmp_path / "state")
    ended_afterwards(program)

    assert request(f"{url}/leases") == (200, {"leases": []})
    assert (program.stop(), _digest(installed)) == (0, before)


@pytest.mark.parametrize("kind", ["sqlite", "mariadb", "postgresql"])
def test_a_database_of_another_installation_is_refused(kind: str, tmp_path: Path) -> None:
    with make_database(kind, tmp_path) as engine:
        with engine.begin() as connection:
            connection.execute(sa.text("DELETE FROM schema_revision"))
        url = engine.url.render_as_string(hide_password=False).replace("%", "%%")
        conf = tmp_path / "lab.conf"
        conf.write_text(f"[database]\nconnection = {url}\n")
        command = ["--state-dir", str(tmp_path / "state"), "--listen-port", "0", "--config-file", str(conf)]

        done = run("blazar.cmd.standalone", *command)

        assert done.returncode == 1
        assert "has tables that no embedded service made" in done.stderr.splitlines()[-1]
        assert "embedded_service" not in sa.inspect(engine).get_table_names()
        with engine.connect() as connection:
            assert connection.execute(sa.text("SELECT count(*) FROM schema_revision")).scalar() == 0


def test_an_empty_database_becomes_its_own(tmp_path: Path, ended_afterwards: End) -> None:
    conf = tmp_path / "lab.conf"
    conf.write_text(f"[database]\nconnection = sqlite:///{tmp_path / 'lab.sqlite'}\n")

    for _ in range(2):
        program, url = start_standalone(tmp_path / "state", "--config-file", str(conf))
        ended_afterwards(program)
        assert request(f"{url}/leases")[0] == 200
        assert program.stop() == 0

    assert not (tmp_path / "state" / "blazar.sqlite").exists()


def test_operators_commands_work_on_an_embedded_service(
    installed: Path, tmp_path: Path, ended_afterwards: End
) -> None:
    folder = tmp_path / "state"
    program, url = start_standalone(folder)
    ended_afterwards(program)
    before = _digest(installed)
    status, _ = request(f"{url}/os-hosts", "POST", {"name": "host-1"})

    listed = run("blazar.cmd.manage", "--state-dir", str(folder), "host", "list")
    swept = run("blazar.cmd.manage", "--state-dir", str(folder), "sweep", "--dry-run")
    checked = run("blazar.cmd.status", "--state-dir", str(folder), "upgrade", "check")
    cloud = run("blazar.cmd.status", "--state-dir", str(folder), "check", "cloud", "--json")
    unread = run(
        "blazar.cmd.status", "--state-dir", str(folder), "check", "cloud", "--nova-conf", "none.conf"
    )
    planned = run("blazar.cmd.manage", "--state-dir", str(folder), "plan", "--goal", "burst", "-f", "json")
    tried = run("blazar.cmd.manage", "--state-dir", str(folder), "what-if", "--add", "2", "--like", "host-1")
    refused = run("blazar.cmd.manage", "--state-dir", str(folder), "what-if", "--close", "shelf=1")
    schema = run("blazar.cmd.db_manage", "--state-dir", str(folder), "current")

    assert status in (201, 409)
    assert "host-1" in listed.stdout, listed.stderr
    assert swept.stdout == "0 left over\n"
    assert checked.returncode == 0, checked.stdout
    assert cloud.returncode == 0, cloud.stdout + cloud.stderr
    assert [each["check"] for each in json.loads(cloud.stdout)["checks"]][-2:] == ["Leftovers", "Clock"]
    assert json.loads(planned.stdout)["goal_type"] == "virtual:instance", planned.stderr
    assert "2 hosts added: host-1-new-1, host-1-new-2" in tried.stdout, tried.stderr
    assert (unread.returncode, unread.stderr[:37]) == (255, "blazar-status: --nova-conf: none.conf")
    assert refused.returncode == 1
    assert refused.stderr == "blazar-manage: --close: no host has a property named shelf\n"
    assert schema.stdout.startswith(head_revision())
    assert _digest(installed) == before


@pytest.mark.parametrize("program", ["manage", "db_manage", "status"])
def test_a_folder_without_an_embedded_service_is_named(program: str, tmp_path: Path) -> None:
    words = {"manage": ["host", "list"], "db_manage": ["current"], "status": ["upgrade", "check"]}[program]

    done = run(f"blazar.cmd.{program}", "--state-dir", str(tmp_path), *words)

    assert done.returncode in (1, 255)
    assert "no embedded service was started with it" in done.stderr


def test_what_the_service_keeps_is_for_its_owner_only(tmp_path: Path, ended_afterwards: End) -> None:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o755)

    program, _ = start_standalone(folder)
    ended_afterwards(program)

    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (folder, *folder.iterdir())}
    assert modes.pop("state") == 0o700
    assert modes.keys() >= {"lock", "blazar.sqlite", "cloud.json"}
    assert set(modes.values()) == {0o600}


def test_files_that_others_could_read_are_tightened(tmp_path: Path, ended_afterwards: End) -> None:
    folder = tmp_path / "state"
    first, _ = start_standalone(folder)
    first.stop()
    ended_afterwards(first)
    for each in (folder / "blazar.sqlite", folder / "cloud.json"):
        each.chmod(0o644)

    second, _ = start_standalone(folder)
    ended_afterwards(second)

    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}


def test_a_folder_that_is_shared_with_others_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)

    done = run("blazar.cmd.standalone", "--state-dir", str(folder), "--listen-port", "0")

    assert done.returncode == 1
    assert "is shared with other users" in done.stderr
    assert stat.S_IMODE(folder.stat().st_mode) == 0o1777


def test_without_authentication_it_listens_on_loopback_only(tmp_path: Path, ended_afterwards: End) -> None:
    public = ["--listen-host", "0.0.0.0"]

    refused = run("blazar.cmd.standalone", "--state-dir", str(tmp_path), "--listen-port", "0", *public)
    program, url = start_standalone(tmp_path, *public, "--allow-unauthenticated-access")
    ended_afterwards(program)

    assert refused.returncode == 1
    assert "add --allow-unauthenticated-access" in refused.stderr
    assert request(url.replace("0.0.0.0", "127.0.0.1"))[0] == 200


def test_the_api_without_authentication_listens_on_loopback_only(tmp_path: Path) -> None:
    conf = tmp_path / "blazar.conf"
    conf.write_text("[DEFAULT]\nauth_strategy = noauth\nport = 0\n")

    done = run("blazar.cmd.api", "--config-file", str(conf))

    assert done.returncode == 1
    assert "add --allow-unauthenticated-access" in done.stderr
