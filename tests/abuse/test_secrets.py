"""No tokens or passwords in logs, tables, notifications, responses, metrics or the output of commands."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator
from pathlib import Path

import bcrypt
import pytest
import requests
from abuse.marked import Outpour, collect_notifications
from installations import require_installation
from programs import fetch, free_port, start_standalone, wait_until

from cloudlab.files import Sections
from rig.cloud.identity import token_of
from rig.installation import Installation, running
from rig.wanted import Wanted

ENDING = "9000-01-01 00:00"
HOST = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 1,
    "hypervisor_properties": "",
    "resource_properties": "",
}
METRICS_PORT = free_port()
ORACLE = {
    "external_service_token": secrets.token_hex(16),
    "external_service_bearer_token": secrets.token_hex(16),
}
LIBRARIES = (
    *("amqp", "keystoneauth", "keystoneclient", "keystonemiddleware", "kombu", "openstack", "oslo.messaging"),
    *("oslo_messaging", "oslo_policy", "requests", "sqlalchemy", "stevedore", "urllib3"),
)
"""Libraries that by default log little even at debug level."""
OPTIONS: Sections = {
    "DEFAULT": {
        "debug": True,
        "default_log_levels": ",".join(f"{each}=DEBUG" for each in LIBRARIES),
        "rpc_response_timeout": 5,
    },
    "metrics": {"in_api": True, "listen_port": METRICS_PORT},
    "manager": {"longest_retry_seconds": 2},
    "enforcement": {
        "enabled_filters": "ExternalServiceFilter",
        # No service listens there.
        "external_service_base_endpoint": "http://127.0.0.1:9/",
        "external_service_allow_on_error": True,
        "external_service_exempt_project_ids": "spared",
        **ORACLE,
    },
}
"""Options of a service that logs as much as possible."""


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    require_installation("mariadb")
    with running(Wanted(managers=1, options=OPTIONS)) as installation:
        _have_tokens_checked(installation)
        collect_notifications(installation.transport_url)
        yield installation


def _have_tokens_checked(installation: Installation) -> None:
    """Make the API authenticate requests with Keystone."""
    path = installation.plan.folder.etc("blazar") / "blazar.conf"
    text = path.read_text()
    keystone = text.partition("[keystone]\n")[2].partition("\n[")[0]
    text = text.replace("auth_strategy = noauth", "auth_strategy = keystone")
    path.write_text(f"{text}\n[keystone_authtoken]\n{keystone}\n")
    installation.restart("blazar-api")


def lease(name: str, **reservation: object) -> dict[str, object]:
    return {"name": name, "start_date": "now", "end_date": ENDING, "reservations": [reservation]}


def do_everything(installation: Installation, out: Outpour) -> None:
    """Send valid and invalid requests to the service."""
    headers = {"X-Auth-Token": out.secrets["the operator's token"]}
    url, mark = installation.url, out.secrets["a password in a body"]
    assert out.ask("POST", f"{url}/os-hosts", headers, json={"name": "host-1"}).status_code == 201
    assert out.ask("POST", f"{url}/os-hosts", headers, json={"name": "host-2"}).status_code == 201
    lessee = {"X-Auth-Token": out.secrets["the lessee's token"]}
    wish = lease("l", **HOST) | {"password": mark, "auth": {"token": mark}}
    assert out.ask("POST", f"{url}/leases", lessee, json=wish).status_code == 201
    flavor = {"resource_type": "flavor:instance", "flavor_id": "none", "amount": 1, "affinity": None}
    assert out.ask("POST", f"{url}/leases", lessee, json=lease("f", **flavor)).status_code == 404
    instance = {"vcpus": 1, "memory_mb": 1, "disk_gb": 1, "amount": 1, "affinity": False}
    wish = lease("i", resource_type="virtual:instance", resource_properties="", **instance)
    assert out.ask("POST", f"{url}/leases", lessee, json=wish).status_code == 201
    calendar = create_feed(url, lessee)
    out.secrets["the token of a feed"] = calendar.rpartition("/")[2].removesuffix(".ics")
    assert out.ask("GET", calendar, {}).status_code == 200
    assert out.ask("DELETE", calendar, {}).status_code == 405
    assert out.ask("GET", f"{url}//calendars/{calendar.rpartition('/')[2]}", {}).status_code == 401
    for body in (f'{{"password": "{mark}"', f'"{mark}"', f'{{"name": 1, "start_date": ["{mark}"]}}'):
        assert out.ask("POST", f"{url}/leases", lessee, data=body).status_code == 400
    for wrong in ({"X-Auth-Token": out.secrets["a wrong token"]}, _basic(out), {}):
        assert out.ask("GET", f"{url}/leases", wrong).status_code == 401
    assert out.ask("POST", f"{url}/os-hosts", lessee, json={"name": "host-3"}).status_code == 403


def create_feed(url: str, headers: dict[str, str]) -> str:
    """Return the address of the calendar of a new feed."""
    version = {"OpenStack-API-Version": "reservation 1.1"}
    made = requests.post(f"{url}/feeds", headers={**headers, **version}, json={"kind": "project"}, timeout=60)
    return str(made.json()["feed"]["url"])


def _basic(out: Outpour) -> dict[str, str]:
    return {"Authorization": f"Basic {out.secrets['a basic credential']}"}


def break_everything(installation: Installation, out: Outpour) -> None:
    """Stop the cloud, the database and the broker in turn, and record the reactions of the service."""
    headers = {"X-Auth-Token": out.secrets["the operator's token"]}
    conf = str(installation.plan.folder.etc("blazar") / "blazar.conf")
    for name in ("cloud", "mariadb", "rabbitmq"):
        installation.service(name).kill()
        out.try_to_ask("GET", f"{installation.url}/leases", headers)
        out.try_to_ask("DELETE", f"{installation.url}/os-hosts/1", headers)
        if name == "cloud":
            out.command("blazar.cmd.status", "--config-file", conf, "--debug", "upgrade", "check")
            out.command("blazar.cmd.manage", "--config-file", conf, "--debug", "host", "refresh")
        installation.service(name).start()
        installation.service(name).wait_until_answers()


def test_no_secret_comes_out_of_the_whole_service(installation: Installation) -> None:
    out = Outpour(
        secrets={
            **{f"the password for {name}": each for name, each in installation.plan.passwords.items()},
            **ORACLE,
            "the operator's token": token_of("blazar", secrets.token_hex(8)),
            "the lessee's token": token_of(f"lessee-{secrets.token_hex(8)}", "project"),
            "the service's token": token_of("blazar", "service"),
            "a wrong token": secrets.token_hex(16),
            "a basic credential": base64.b64encode(secrets.token_bytes(16)).decode(),
            "a password in a body": secrets.token_hex(16),
        }
    )

    do_everything(installation, out)
    assert wait_until(lambda: out.takes_notifications(installation.transport_url))
    out.add("metrics", fetch(f"{installation.url.removesuffix('/v1')}/metrics")[1])
    out.add("metrics", fetch(f"http://127.0.0.1:{METRICS_PORT}/metrics")[1])
    break_everything(installation, out)
    out.take_tables(installation.database_url)
    out.take_logs(installation)

    print(f"{sum(map(len, out.texts.values())):,} characters from {len(out.texts)} places searched")
    assert " DEBUG " in out.texts["blazar-api.log"]
    assert " DEBUG " in out.texts["blazar-manager-1.log"]
    assert {"answers", "journal", "outbox", "leases", "metrics", "notifications"} <= out.texts.keys()
    assert all(out.texts[name] for name in ("answers", "journal", "metrics", "notifications"))
    assert list(out.found()) == []


def test_no_password_comes_out_of_the_embedded_service(tmp_path: Path) -> None:
    password, wrong = secrets.token_hex(16), secrets.token_hex(16)
    users, conf, state = tmp_path / "htpasswd", tmp_path / "blazar.conf", tmp_path / "state"
    users.write_text(f"user:{bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()}:admin\n")
    conf.write_text(
        f"[DEFAULT]\ndebug = true\nauth_strategy = http_basic\nhttp_basic_auth_user_file = {users}\n"
    )
    encoded = {name: base64.b64encode(f"user:{name}".encode()).decode() for name in (password, wrong)}
    out = Outpour(
        secrets={
            "the password": password,
            "a wrong password": wrong,
            "the credential": encoded[password],
            "a wrong credential": encoded[wrong],
        }
    )
    program, url = start_standalone(state, "--config-file", str(conf))
    try:
        for each, status in ((password, 201), (wrong, 401)):
            headers = {"Authorization": f"Basic {encoded[each]}"}
            wish = lease(f"name-{status}") | {"reservations": [], "password": each}
            assert out.ask("POST", f"{url}/leases", headers, json=wish).status_code == status
        for page in ("metrics", "healthcheck"):
            out.add(page, fetch(f"{url.removesuffix('/v1')}/{page}")[1])
        assert wait_until(lambda: program.has_logged("lease.event.start_lease"))
    finally:
        program.close()
    out.add("log", "".join(program.log))
    for path in state.iterdir():
        out.add(path.name, path.read_bytes().decode("latin-1"))

    assert " DEBUG " in out.texts["log"]
    assert out.texts["metrics"]
    assert {"blazar.sqlite", "cloud.json"} <= out.texts.keys()
    assert list(out.found()) == []


def test_a_secret_that_comes_out_is_found() -> None:
    out = Outpour(secrets={"a token": "abc", "a password": "xyz"})

    out.add("log", "… X-Auth-Token: a")
    out.add("log", "bc …")

    assert [each.partition(":")[0] for each in out.found()] == ["a token in log"]
