"""The licence server, its client, and the plugin's options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import requests
from licences import SWITCHBOARD, server_url
from oslo_config import cfg

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused, CloudUnavailable
from blazar.settings import Settings
from blazar_licences.client import HttpLicenceServer
from blazar_licences.options import list_opts
from blazar_licences.plugin import Licences, make_plugin
from blazar_licences.port import Grant, Pool, PoolState
from blazar_licences.server.ledger import Ledger

NOW = datetime(2031, 1, 1, tzinfo=UTC)
GRANT = Grant(id="a:b c", pool="site", project_id="project", seats=3, until=NOW + timedelta(hours=1))


@pytest.fixture
def client() -> Iterator[HttpLicenceServer]:
    SWITCHBOARD.ledger = Ledger(now=lambda: NOW)
    yield HttpLicenceServer(server_url())
    SWITCHBOARD.token = None


def ask(method: str, path: str, body: object = None) -> int:
    """Return the status of the response to a client other than Blazar."""
    return requests.request(method, f"{server_url()}/{path}", json=body, timeout=10).status_code


@pytest.fixture(autouse=True)
def pools(client: HttpLicenceServer) -> None:
    assert ask("PUT", "pools/site", {"product": "cad", "seats": 10}) == 204


def test_pools_are_what_operators_say(client: HttpLicenceServer) -> None:
    assert (
        ask("PUT", "pools/spare", {"product": "cad", "seats": 5, "state": "closed", "note": "audit"}) == 204
    )

    assert client.list_pools() == (
        Pool(name="site", product="cad", seats=10),
        Pool(name="spare", product="cad", seats=5, state=PoolState.CLOSED, note="audit"),
    )
    assert ask("DELETE", "pools/spare") == 204
    assert ask("DELETE", "pools/spare") == 404
    assert [each.name for each in client.list_pools()] == ["site"]


def test_a_grant_is_made_changed_and_ended(client: HttpLicenceServer) -> None:
    client.put_grant(GRANT)
    client.put_grant(GRANT)
    assert client.list_grants("a:") == (GRANT,)

    client.put_notice(GRANT.id, NOW)
    assert client.list_grants("a:") == (replace(GRANT, notice=NOW),)
    longer = replace(GRANT, seats=5, until=GRANT.until + timedelta(hours=1))
    client.put_grant(longer)

    assert client.list_grants("a:") == (longer,)
    assert client.list_grants("b") == ()
    client.delete_grant(GRANT.id)
    with pytest.raises(CloudNotFound):
        client.delete_grant(GRANT.id)


def test_a_pool_gives_no_more_than_it_has(client: HttpLicenceServer) -> None:
    client.put_grant(replace(GRANT, seats=8))

    with pytest.raises(CloudConflict, match="2 seats left"):
        client.put_grant(replace(GRANT, id="other", seats=3))
    with pytest.raises(CloudNotFound, match="no pool"):
        client.put_grant(replace(GRANT, id="other", pool="none"))


def test_seats_in_use_are_not_taken_away(client: HttpLicenceServer) -> None:
    client.put_grant(replace(GRANT, id="a"))
    assert ask("PUT", "grants/a/uses/desk", {"seats": 2}) == 204
    assert ask("PUT", "grants/a/uses/desk", {"seats": 2}) == 204
    assert ask("PUT", "grants/a/uses/lab", {"seats": 2}) == 409

    assert client.list_grants("a")[0].in_use == 2
    with pytest.raises(CloudConflict, match="2 seats"):
        client.put_grant(replace(GRANT, id="a", seats=1))
    assert ask("PUT", "grants/a/uses/desk", {"seats": 0}) == 204
    client.put_grant(replace(GRANT, id="a", seats=1))


def test_a_grant_cannot_be_used_after_its_end(client: HttpLicenceServer) -> None:
    client.put_grant(replace(GRANT, id="a", until=NOW))

    assert ask("PUT", "grants/a/uses/desk", {"seats": 1}) == 409


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("pools/site", {"product": "cad"}, 400),
        ("pools/site", {"product": "cad", "seats": -1}, 400),
        ("pools/site", {"product": "cad", "seats": 1, "state": "odd"}, 400),
        ("pools/site", [], 400),
        ("grants/x", {"pool": "site", "project_id": "p", "seats": 1, "until": "2031-01-01"}, 400),
        ("grants/x/notice", {"at": "2031-01-01T00:00:00+00:00"}, 404),
        ("nothing", {}, 404),
    ],
)
def test_what_the_server_does_not_understand_it_refuses(path: str, body: object, status: int) -> None:
    assert ask("PUT", path, body) == status


def test_only_who_has_the_token_is_served(client: HttpLicenceServer) -> None:
    SWITCHBOARD.token = "secret"

    with pytest.raises(CloudRefused, match="token is missing"):
        client.list_pools()
    assert HttpLicenceServer(server_url(), "secret").list_pools()


def test_a_server_that_does_not_answer_is_unavailable() -> None:
    with pytest.raises(CloudUnavailable, match="does not respond"):
        HttpLicenceServer("http://127.0.0.1:1").list_pools()


def test_the_ledger_survives_its_process(tmp_path: Path) -> None:
    first = Ledger(str(tmp_path / "ledger"))
    first.put_pool("site", "cad", 3, "open", "")
    first.close()

    second = Ledger(str(tmp_path / "ledger"))

    assert [each["name"] for each in second.list_pools()] == ["site"]
    second.close()


def conf_of(tmp_path: Path, text: str) -> cfg.ConfigOpts:
    path = tmp_path / "blazar.conf"
    path.write_text(f"[software:licence]\n{text}\n")
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[str(path)])
    return conf


def test_the_plugin_is_made_of_the_configuration(tmp_path: Path) -> None:
    conf = conf_of(tmp_path, f"endpoint = {server_url()}/\ntimeout_seconds = 3")

    plugin = make_plugin(Settings(), conf)

    assert isinstance(plugin, Licences)
    assert [each.name for each in plugin.discover(None)] == ["site"]  # type: ignore[arg-type]


def test_without_an_endpoint_there_is_no_plugin(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\[software:licence\] endpoint: is not set"):
        make_plugin(Settings(), conf_of(tmp_path, ""))


def test_every_option_says_what_it_is_for() -> None:
    for _, options in list_opts():
        assert all(each.help and each.help.endswith(".") for each in options)
