"""Locations and connections of services, and invalid configurations."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from cloud.openstack.conftest import MakeCloud, MakeConf
from cloud.openstack.stub import TOKENS, Reply, StubCloud
from oslo_config import cfg

from blazar import __version__, config
from blazar.cloud.openstack import options
from blazar.cloud.openstack.driver import OpenStackCloud
from blazar.cloud.openstack.settings import (
    OptionError,
    read_connection,
    read_hypervisor_version,
    read_location,
)
from blazar.domain.errors import CloudUnavailable

AGGREGATES = "os-aggregates"
NONE = Reply(body={"aggregates": []})


@pytest.fixture(autouse=True)
def endpoints(stub: StubCloud) -> None:
    """Two regions, each with two interfaces."""
    stub.endpoints["compute"] = {
        (interface, region): f"/{interface}/{region}/v2.1"
        for interface in ("internal", "public")
        for region in ("one", "two")
    }


def used(stub: StubCloud, cloud: OpenStackCloud) -> str:
    """Return the base path of the requests to Nova."""
    cloud.aggregates.list_aggregates()
    return stub.requests[-1].path.removesuffix(f"/{AGGREGATES}")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "/internal/one/v2.1"),
        ("[nova]\nvalid_interfaces = admin,public,internal", "/public/one/v2.1"),
        ("[nova]\nendpoint_type = public", "/public/one/v2.1"),
        ("[nova]\nendpoint_type = public\nvalid_interfaces = internal", "/internal/one/v2.1"),
        ("[nova]\nregion_name = two", "/internal/two/v2.1"),
        ("[DEFAULT]\nos_region_name = two", "/internal/two/v2.1"),
        ("[DEFAULT]\nos_region_name = two\n[nova]\nregion_name = one", "/internal/one/v2.1"),
        ("[nova]\nservice_name = compute-name", "/internal/one/v2.1"),
    ],
)
def test_an_endpoint_is_chosen_by_interface_and_region(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str, text: str, path: str
) -> None:
    for each in stub.endpoints["compute"].values():
        stub.lay_out("GET", f"{each}/{AGGREGATES}", NONE)

    assert used(stub, cloud_of(f"{text}\n{credentials}")) == path


@pytest.mark.parametrize("text", ["[nova]\ncompute_service = other", "[DEFAULT]\ncompute_service = other"])
def test_nova_may_have_another_type_in_the_catalog(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str, text: str
) -> None:
    stub.endpoints["other"] = {("internal", "one"): "/other/v2.1"}
    stub.lay_out("GET", f"/other/v2.1/{AGGREGATES}", NONE)

    assert used(stub, cloud_of(f"{text}\n{credentials}")) == "/other/v2.1"
    assert stub.requests[-1].headers["OpenStack-API-Version"] == "compute 2.1"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", "/v2.1"),
        ("/", "/v2.1"),
        ("/compute", "/compute/v2.1"),
        ("/compute/v2.1/", "/compute/v2.1"),
        ("/compute/v2.1/%(project_id)s", "/compute/v2.1/project-id"),
    ],
)
def test_a_url_is_used_instead_of_the_catalogs(
    stub: StubCloud, cloud_of: MakeCloud, credentials: str, url: str, path: str
) -> None:
    stub.lay_out("GET", f"{path}/{AGGREGATES}", NONE)

    assert used(stub, cloud_of(f"{credentials}[nova]\nendpoint_override = {stub.url}{url}")) == path


@pytest.mark.parametrize("text", ["region_name = three", "service_name = other", "valid_interfaces = admin"])
def test_an_endpoint_that_is_not_in_the_catalog_is_unavailability(
    cloud_of: MakeCloud, credentials: str, text: str
) -> None:
    with pytest.raises(CloudUnavailable, match=r"Keystone: .*endpoint"):
        cloud_of(f"{credentials}[nova]\n{text}").aggregates.list_aggregates()


def test_all_calls_name_the_program(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("GET", f"/internal/one/v2.1/{AGGREGATES}", NONE)

    cloud.aggregates.list_aggregates()

    assert len(stub.requests) == 3
    assert all(each.headers["User-Agent"].startswith(f"blazar/{__version__} ") for each in stub.requests)
    assert len(stub.asked("POST", TOKENS)) == 1


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2", (2, 1)),
        ("2.1", (2, 1)),
        ("2.53", (2, 53)),
        ("2.87", (2, 87)),
        ("2.95", (2, 87)),
        ("2.latest", (2, 87)),
        ("latest", (2, 87)),
    ],
)
def test_hypervisors_are_asked_for_at_the_configured_version(
    make_conf: MakeConf, text: str, version: tuple[int, int]
) -> None:
    assert read_hypervisor_version(make_conf(f"[nova]\nnova_client_version = {text}")) == version
    assert read_hypervisor_version(make_conf(f"[DEFAULT]\nnova_client_version = {text}")) == version


def test_connections_are_checked_and_limited_in_time_by_default(make_conf: MakeConf) -> None:
    connection = read_connection(make_conf(""), "nova")

    assert (connection.verify, connection.certificate, connection.timeout_seconds) == (True, None, 30)


def test_certificates_are_those_of_the_group_or_the_general_ones(make_conf: MakeConf, tmp_path: Path) -> None:
    general, own, certificate, key = (tmp_path / each for each in ("general", "own", "certificate", "key"))
    for path in (general, own, certificate, key):
        path.touch()
    conf = make_conf(
        f"[DEFAULT]\ncafile = {general}\n[nova]\ncafile = {own}\n[placement]\ncertfile = {certificate}\n"
        f"[neutron]\ncertfile = {certificate}\nkeyfile = {key}\n[glance]\ninsecure = true\n"
    )

    assert read_connection(conf, "nova").verify == str(own)
    assert read_connection(conf, "placement").verify == str(general)
    assert read_connection(conf, "keystone").verify == str(general)
    assert read_connection(conf, "placement").certificate == str(certificate)
    assert read_connection(conf, "neutron").certificate == (str(certificate), str(key))
    assert read_connection(conf, "glance").verify is False


PASSWORD = """
auth_url = http://keystone/v3
username = u
password = secret-word
project_name = p
user_domain_id = d
project_domain_id = d
"""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[keystone]\nauth_type = telepathy", "[keystone] auth_type: there is nothing named telepathy"),
        ("[nova]\nauth_type = password", "[nova] auth_url: is not set"),
        ("[nova]\nauth_section = none", "[none] auth_type: is not set, though [nova] auth_section"),
        (f"[glance]\nauth_type = password{PASSWORD}username =", "[glance] username: is not set"),
        (f"[glance]\nauth_type = v3password{PASSWORD}password =", "[glance] password: is not set"),
        (f"[glance]\nauth_type = password{PASSWORD}project_name =", "[glance] project_name: is not set"),
        (
            f"[glance]\nauth_type = password{PASSWORD}project_domain_id =",
            "[glance] project_domain_name: is not set",
        ),
        (
            f"[glance]\nauth_type = password{PASSWORD}user_domain_id =",
            "[glance] user_domain_name: is not set",
        ),
        (f"[nova]\nauth_type = password{PASSWORD}auth_url = keystone", "[nova] auth_url: must be a URL"),
        ("[DEFAULT]\nos_auth_version = v2.0", "[DEFAULT] os_auth_version: "),
        ("[DEFAULT]\nos_auth_protocol = gopher", "[DEFAULT] os_auth_protocol: "),
        ("[DEFAULT]\nos_auth_host = no host", "[DEFAULT] os_auth_host: "),
        ("[DEFAULT]\nos_auth_port = many", "[DEFAULT] os_auth_port: "),
        ("[DEFAULT]\ncafile = /nowhere/ca", "[DEFAULT] cafile: file /nowhere/ca does not exist"),
        ("[neutron]\ncafile = /nowhere/ca", "[neutron] cafile: file /nowhere/ca does not exist"),
        ("[neutron]\ncertfile = /nowhere/c", "[neutron] certfile: file /nowhere/c does not exist"),
        ("[neutron]\nkeyfile = /", "[neutron] certfile: is not set, though keyfile is"),
        ("[placement]\ntimeout = 0", "[placement] timeout: "),
        ("[placement]\ninsecure = perhaps", "[placement] insecure: "),
        ("[placement]\nendpoint_override = placement:8778", "[placement] endpoint_override: must be a URL"),
        ("[placement]\nvalid_interfaces = secret", "[placement] valid_interfaces: "),
        ("[placement]\nvalid_interfaces =", "[placement] valid_interfaces: must name at least one"),
        ("[neutron]\nendpoint_type = secret", "[neutron] valid_interfaces: "),
        (
            "[nova]\nnova_client_version = 3",
            "[nova] nova_client_version: must be 2, 2.<number> or latest, not 3",
        ),
    ],
)
def test_what_cannot_be_used_is_said_at_the_start(cloud_of: MakeCloud, text: str, problem: str) -> None:
    with pytest.raises(OptionError) as error:
        cloud_of(text)

    assert str(error.value).startswith(problem)
    assert "secret-word" not in str(error.value)


def test_passwords_are_not_logged_with_the_options(
    cloud_of: MakeCloud, make_conf: MakeConf, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    conf = make_conf(f"[DEFAULT]\nos_admin_password = old-secret\n[keystone]\nauth_type = password{PASSWORD}")
    cloud_of((Path(conf.config_file[0])).read_text())

    conf.log_opt_values(logging.getLogger("test"), logging.DEBUG)

    assert "os_admin_username" in caplog.text
    assert "os_admin_password" in caplog.text
    assert "old-secret" not in caplog.text
    assert "secret-word" not in caplog.text


def test_every_option_is_listed_once(make_conf: MakeConf) -> None:
    listed: dict[str | None, list[cfg.Opt]] = {}
    for group, some in config.list_opts():
        listed.setdefault(group, []).extend(some)

    names = {group: [each.dest for each in some] for group, some in listed.items()}

    assert all(len(each) == len(set(each)) for each in names.values())
    for group in ("nova", "placement", "neutron", "glance"):
        assert {"auth_type", "auth_url", "password", "cafile", "timeout", "endpoint_override"} <= set(
            names[group]
        )
    assert {"os_admin_password", "os_auth_host", "os_region_name", "identity_service"} <= set(names[None])
    secret = {
        each.dest for some in listed.values() for each in some if "password" in each.dest and each.secret
    }
    assert secret == {"password", "os_admin_password", "mail_password"}


def test_registering_twice_changes_nothing(make_conf: MakeConf) -> None:
    conf = make_conf("[nova]\nregion_name = one")

    options.register(conf)

    assert read_location(conf, "nova", None).region == "one"
