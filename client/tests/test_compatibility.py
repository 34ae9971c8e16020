"""Compatibility with python-blazarclient 4.6, tested against the embedded service."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import urllib.request
from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest
from keystoneauth1 import noauth
from keystoneauth1 import session as ksa_session

from blazarclient import client as blazar_client
from blazarclient import command, exception, shell, utils
from blazarclient.v1.client import Client
from blazarclient.v1.shell_commands import allocations, hosts, leases

if TYPE_CHECKING:
    from .conftest import Run

REQUIRED = inspect.Parameter.empty


@pytest.fixture
def client(service: str, environment: pytest.MonkeyPatch) -> Client:
    session = ksa_session.Session(auth=noauth.NoAuth(endpoint=service))
    return blazar_client.Client("1", service_type="reservation", session=session)


@pytest.fixture
def lease(embedded: Run) -> Iterator[dict[str, Any]]:
    """A future lease, created by a command."""
    embedded("host-create", "host-7")
    ran = embedded(
        *("lease-create", "compatible", "--start-date", "2032-01-01 10:00", "--end-date", "2032-01-01 12:00"),
        *("--physical-reservation", "min=1,max=1", "-f", "json"),
    )
    assert ran.code == 0, ran.err
    yield ran.json
    embedded("lease-delete", ran.json["id"], "--ignore-not-found")
    embedded("host-delete", "host-7")


# --- import paths, signatures, attributes -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("blazarclient.client", ["Client"]),
        ("blazarclient.v1.client", ["Client"]),
        (
            "blazarclient.exception",
            ["BlazarClientException", "CommandError", "NotAuthorized", "NoBlazarEndpoint"],
        ),
        ("blazarclient.exception", ["NoUniqueMatch", "UnsupportedVersion", "IncorrectLease"]),
        ("blazarclient.exception", ["DuplicatedLeaseParameters", "InsufficientAuthInformation"]),
        ("blazarclient.exception", ["ResourcePropertyNotFound"]),
        ("blazarclient.base", ["BaseClientManager", "SessionClient", "RequestManager"]),
        ("blazarclient.v1.leases", ["LeaseClientManager"]),
        ("blazarclient.v1.hosts", ["ComputeHostClientManager"]),
        ("blazarclient.v1.floatingips", ["FloatingIPClientManager"]),
        ("blazarclient.v1.allocations", ["AllocationClientManager"]),
        ("blazarclient.utils", ["env", "to_primitive", "dumps", "get_item_properties"]),
        ("blazarclient.utils", ["find_resource_id_by_name_or_id", "from_elapsed_time_to_seconds"]),
        ("blazarclient.utils", ["from_elapsed_time_to_delta", "LEASE_DATE_FORMAT", "API_DATE_FORMAT"]),
        ("blazarclient.utils", ["ELAPSED_TIME_REGEX"]),
        ("blazarclient.command", ["UUID_PATTERN"]),
        ("blazarclient.shell", ["main", "BlazarShell", "COMMANDS_V1", "COMMANDS"]),
        ("blazarclient.v1.shell_commands.leases", ["CREATE_RESERVATION_KEYS"]),
        ("blazarclient.v1.shell_commands.hosts", ["HOST_ID_PATTERN", "UnsetAttributesHost"]),
        ("blazarclient.v1.shell_commands.floatingips", []),
        ("blazarclient.v1.shell_commands.allocations", ["RESOURCE_ID_PATTERN"]),
        (
            "blazarclient.osc.plugin",
            ["API_NAME", "API_VERSIONS", "API_VERSION_OPTION", "DEFAULT_API_VERSION"],
        ),
        ("blazarclient.osc.plugin", ["make_client", "build_option_parser"]),
        ("blazarclient.i18n", ["_"]),
        ("blazarclient.version", ["__version__"]),
    ],
)
def test_import_paths_are_kept(module: str, names: list[str]) -> None:
    found = importlib.import_module(module)

    assert [name for name in names if not hasattr(found, name)] == []


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("lease.create", "name start end=None reservations=None events=None before_end=None"),
        ("lease.get", "lease_id"),
        (
            "lease.update",
            "lease_id name=None prolong_for=None reduce_by=None end_date=None advance_by=None "
            "defer_by=None start_date=None reservations=None",
        ),
        ("lease.delete", "lease_id"),
        ("lease.list", "sort_by=None"),
        ("host.create", "name **kwargs"),
        ("host.get", "host_id"),
        ("host.update", "host_id values"),
        ("host.delete", "host_id"),
        ("host.list", "sort_by=None"),
        ("host.list_properties", "detail=False all=False sort_by=None"),
        ("host.get_property", "property_name"),
        ("host.set_property", "property_name private"),
        ("floatingip.create", "network_id floating_ip_address **kwargs"),
        ("floatingip.get", "floatingip_id"),
        ("floatingip.delete", "floatingip_id"),
        ("floatingip.list", "sort_by=None"),
        ("allocation.get", "resource resource_id"),
        ("allocation.list", "resource sort_by=None"),
    ],
)
def test_signatures_are_kept(client: Client, path: str, parameters: str) -> None:
    manager, method = path.split(".")
    found = inspect.signature(getattr(getattr(client, manager), method)).parameters.values()

    published = [each for each in found if each.kind is not inspect.Parameter.KEYWORD_ONLY]

    assert (
        " ".join(str(each).replace(" ", "").partition(":")[0] + default(each) for each in published)
        == parameters
    )


def default(parameter: inspect.Parameter) -> str:
    return "" if parameter.default is REQUIRED else f"={parameter.default}"


def test_the_parameters_of_the_factory_and_the_class_are_kept() -> None:
    factory, made = inspect.signature(blazar_client.Client), inspect.signature(Client)

    assert list(factory.parameters) == ["version", "service_type", "args", "kwargs"]
    assert factory.parameters["version"].default == 1
    assert factory.parameters["service_type"].default == "reservation"
    assert list(made.parameters) == ["blazar_url", "auth_token", "session", "kwargs"]


# --- results and errors -----------------------------------------------------------------------------------


def test_results_are_dicts_in_the_order_of_the_service(
    client: Client, service: str, lease: dict[str, Any]
) -> None:
    with urllib.request.urlopen(f"{service}/leases/{lease['id']}") as answer:
        sent = json.load(answer)["lease"]

    found = client.lease.get(lease["id"])

    assert type(found) is dict
    assert json.dumps(found) == json.dumps(sent)
    assert client.lease.list()[0].keys() == sent.keys()


def test_the_request_manager_returns_pairs(client: Any, lease: dict[str, Any]) -> None:
    response, body = client.host.request_manager.get("/os-hosts/allocations")

    assert response.status_code == 200
    assert isinstance(body["allocations"], list)


def test_errors_have_the_status_and_the_message_of_the_service(client: Client) -> None:
    with pytest.raises(exception.BlazarClientException) as caught:
        client.lease.get("11111111-2222-3333-4444-555555555555")

    assert caught.value.kwargs["code"] == 404
    assert caught.value.args[0].startswith("ERROR: ")
    wanted: dict[str, Any] = {"resource_type": "physical:host", "min": 99, "max": 99}
    wanted |= {"hypervisor_properties": "", "resource_properties": ""}
    with pytest.raises(exception.BlazarClientException, match="Not enough hosts available") as refused:
        client.lease.create("n", "now", "2032-01-01 10:00", [wanted], [])
    assert refused.value.kwargs["code"] == 400


def test_a_lease_is_updated_with_keywords(client: Client, lease: dict[str, Any]) -> None:
    changed = client.lease.update(lease_id=lease["id"], name="renamed", prolong_for="6d")

    assert isinstance(changed, dict)
    assert (changed["name"], changed["end_date"]) == ("renamed", "2032-01-07T12:00:00.000000")


# --- commands and options ---------------------------------------------------------------------------------

FORMATS = "-f -c --noindent --max-width --fit-width --print-empty"
OPTIONS = {
    "lease-list": f"{FORMATS} --sort-column --quote --sort-by",
    "lease-show": f"{FORMATS} --prefix",
    "lease-create": f"{FORMATS} --prefix --start-date --end-date --before-end-date --reservation "
    "--physical-reservation --event",
    "lease-update": "--name --prolong-for --prolong_for --reduce-by --end-date --defer-by --advance-by "
    "--start-date --reservation",
    "lease-delete": "",
    "host-list": f"{FORMATS} --sort-by",
    "host-show": FORMATS,
    "host-create": f"{FORMATS} --extra",
    "host-update": "--extra",
    "host-unset": "--extra",
    "host-delete": "",
    "host-property-list": f"{FORMATS} --detail --all --sort-by",
    "host-property-show": FORMATS,
    "host-property-set": "--private --public",
    "floatingip-list": f"{FORMATS} --sort-by",
    "floatingip-show": FORMATS,
    "floatingip-create": FORMATS,
    "floatingip-delete": "",
    "allocation-list": f"{FORMATS} --reservation-id --lease-id --sort-by",
    "allocation-show": f"{FORMATS} --reservation-id --lease-id",
}


@pytest.mark.parametrize("name", list(OPTIONS))
def test_commands_and_their_options_are_kept(name: str) -> None:
    parser = shell.COMMANDS["v1"][name](shell.BlazarShell(), None).get_parser(name)

    assert set(OPTIONS[name].split()) - set(parser._option_string_actions) == set()


def test_global_options_are_kept(embedded: Run) -> None:
    published = (
        "--version -v --verbose -q --quiet --debug -h --help --os-reservation-api-version "
        "--os_reservation_api_version --service-type --endpoint-type --os-auth-type --os-auth-plugin "
        "--insecure --os-cacert --os-cert --os-key --timeout --collect-timing --os-service-type "
        "--os-interface --os-region-name --os-endpoint-override --os-service-name --os-api-version"
    )

    words = set(embedded("bash-completion").out.split())

    assert set(published.split()) - words == set()


def test_entry_points_are_kept() -> None:
    (script,) = [each for each in metadata.entry_points(group="console_scripts") if each.name == "blazar"]
    (plugin,) = [
        each for each in metadata.entry_points(group="openstack.cli.extension") if each.name == "reservation"
    ]

    assert script.load() is shell.main
    assert plugin.load().API_NAME == "reservation"
    assert metadata.entry_points(group="openstack.reservation.v1")


def test_patterns_of_ids_are_kept() -> None:
    some = "11111111-2222-3333-4444-55555555AAAA"

    assert re.match(command.UUID_PATTERN, some)
    assert not re.match(command.UUID_PATTERN, some.replace("-", ""))
    for pattern in (hosts.HOST_ID_PATTERN, allocations.RESOURCE_ID_PATTERN):
        # Programs use them with each function.
        for match in (re.match, re.fullmatch, re.search):
            assert match(pattern, "12")
            assert not match(pattern, "1-host")
            assert not match(pattern, "host-1")


def test_the_table_of_reservation_keys_is_kept() -> None:
    table = leases.CREATE_RESERVATION_KEYS

    assert set(table) >= {"physical:host", "virtual:instance", "virtual:floatingip", "flavor:instance"}
    assert table["physical:host"]["min"] == ""


# --- what is printed, and exit codes ----------------------------------------------------------------------


def test_default_columns_are_kept(embedded: Run, lease: dict[str, Any]) -> None:
    def columns(*words: str) -> str:
        return embedded(*words, "-f", "csv", "--quote", "none").out.splitlines()[0]

    assert columns("lease-list") == "id,name,start_date,end_date"
    assert columns("host-list") == "id,hypervisor_hostname,vcpus,memory_mb,local_gb"
    assert columns("host-property-list") == "property"
    assert columns("host-property-list", "--detail") == "property,private,property_values"
    assert columns("floatingip-list") == "id,floating_ip_address,floating_network_id"
    assert columns("allocation-list", "host") == "resource_id,reservations"


def test_the_first_id_in_value_format_is_that_of_the_reservation(
    embedded: Run, lease: dict[str, Any]
) -> None:
    out = embedded("lease-show", "compatible", "-f", "value", "-c", "reservations").out

    found = next(line for line in out.splitlines() if '"id"' in line)
    assert found == f'    "id": "{lease["reservations"][0]["id"]}",'


def test_success_messages_are_those_of_4_6(embedded: Run, lease: dict[str, Any]) -> None:
    made = embedded("host-create", "host-6")
    assert made.out.startswith("Created a new host:\n+-")
    assert embedded("host-update", "host-6", "--extra", "a_key=1").out == "Updated host: host-6\n"
    assert embedded("host-property-set", "a_key", "--public").out == "Updated host property: a_key\n"
    assert embedded("host-unset", "host-6", "--extra", "a_key").out == "Updated host: host-6\n"
    assert embedded("host-delete", "host-6").out == "Deleted host: host-6\n"
    assert embedded("lease-update", "compatible", "--name", "x").out == "Updated lease: compatible\n"
    assert embedded("lease-delete", "x").out == "Deleted lease: x\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["lease-list"], 0),
        (["lease-show", "nothing of that name"], 1),
        (["lease-create", "n", "--end-date", "2001-01-01 10:00"], 1),
        (["no-such-command"], 1),
        (["lease-show"], 2),
        (["lease-list", "--no-such-option"], 2),
        (["allocation-list", "floatingip"], 2),
    ],
)
def test_exit_codes_are_kept(embedded: Run, words: list[str], code: int) -> None:
    assert embedded(*words).code == code


def test_the_formats_of_dates_and_durations_are_kept() -> None:
    assert utils.parse_date("2031-01-01T10:00:00.000000", utils.LEASE_DATE_FORMAT).hour == 10
    assert utils.parse_date("2031-01-01 10:00", utils.API_DATE_FORMAT).hour == 10
    assert re.match(utils.ELAPSED_TIME_REGEX, "6d")
