"""Output of commands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from blazarclient import rendering

from .command_samples import HOST, HOSTS_ARGUMENT, ID, LEASE, OTHER, RESERVATION, WHEN

if TYPE_CHECKING:
    from .conftest import Run, Stub


def test_lists_have_the_columns_and_the_order_of_4_6(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE | {"name": "z"}, LEASE | {"name": "a", "id": OTHER}]})
    stub.respond({"hosts": [HOST | {"hypervisor_hostname": "z"}, HOST]})
    stub.respond({"allocations": []})

    leases = blazar("lease-list", "-f", "csv", "--quote", "none").out.splitlines()
    hosts = blazar("host-list", "-f", "csv", "--quote", "none").out.splitlines()
    allocations = blazar("allocation-list", "host", "-f", "csv", "--quote", "none").out

    assert leases[0] == "id,name,start_date,end_date"
    assert [each.split(",")[1] for each in leases[1:]] == ["a", "z"]
    assert hosts == [
        "id,hypervisor_hostname,vcpus,memory_mb,local_gb",
        "1,node-1,4,8192,100",
        "1,z,4,8192,100",
    ]
    assert allocations == "resource_id,reservations\n"


def test_a_lease_is_shown_with_all_keys_in_alphabetical_order(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE})

    ran = blazar("lease-show", ID, "-f", "json")

    assert ran.json == LEASE
    assert list(ran.json) == sorted(LEASE)


def test_value_format_renders_nested_fields_as_indented_json_in_the_order_of_the_service(
    blazar: Run, stub: Stub
) -> None:
    stub.respond({"lease": LEASE | {"reservations": [RESERVATION, RESERVATION | {"id": "r2"}]}})
    stub.respond({"lease": LEASE})

    nested = blazar("lease-show", ID, "-f", "value", "-c", "reservations")
    plain = blazar("lease-show", ID, "-f", "value", "-c", "status")

    expected = [json.dumps(RESERVATION | {"id": each}, indent=4) for each in ("r1", "r2")]
    assert nested.out == "\n".join(expected) + "\n"
    assert plain.out == "PENDING\n"


@pytest.mark.parametrize("form", ["table", "value"])
def test_formats_for_people_keep_the_message_about_the_created_object_on_standard_output(
    blazar: Run, stub: Stub, form: str
) -> None:
    stub.respond({"lease": LEASE}, status=201)

    assert blazar("lease-create", "mine", "-f", form).out.startswith("Created a new lease:\n")


@pytest.mark.parametrize("form", ["json", "yaml", "shell"])
def test_client_weakness_28_29_and_30_formats_for_programs_contain_only_the_created_object(
    blazar: Run, stub: Stub, form: str
) -> None:
    stub.respond({"lease": LEASE}, status=201)

    ran = blazar("lease-create", "mine", "-f", form)

    assert "Created a new lease:" in ran.err
    if form == "shell":
        assert 'name="mine"' in ran.out.splitlines()
    else:
        assert yaml.safe_load(ran.out) == LEASE


def test_client_weakness_29_lists_in_json_are_nested_data(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE]})

    assert blazar("lease-list", "-c", "reservations", "-f", "json").json == [{"reservations": [RESERVATION]}]


def test_client_weakness_30_null_is_null_in_json_and_empty_in_text(blazar: Run, stub: Stub) -> None:
    for _ in range(2):
        stub.respond({"lease": LEASE})
        stub.respond({"leases": [LEASE]})

    assert blazar("lease-show", ID, "-f", "json", "-c", "trust_id").json == {"trust_id": None}
    assert blazar("lease-list", "-f", "json", "-c", "trust_id").json == [{"trust_id": None}]
    assert blazar("lease-show", ID, "-f", "value", "-c", "trust_id").out == "\n"
    assert blazar("lease-list", "-f", "value", "-c", "trust_id").out == "\n"


def test_client_weakness_31_a_table_of_allocations_is_readable(blazar: Run, stub: Stub) -> None:
    stub.respond({"allocations": [{"resource_id": "1", "reservations": [{"id": "r1", "lease_id": ID}]}]})

    assert f"| 1           | id: r1, lease_id: {ID} |" in blazar("allocation-list", "host").out


def test_client_weakness_33_any_key_of_any_row_is_a_column(blazar: Run, stub: Stub) -> None:
    rows = [HOST, {key: value for key, value in HOST.items() if key != "gpu"} | {"id": "2", "rack": "r"}]
    stub.respond({"hosts": rows})
    stub.respond({"hosts": rows})

    ran = blazar("host-list", "-c", "rack", "-c", "id", "-c", "gpu", "-f", "json", "--sort-by", "id")

    assert ran.json == [{"rack": None, "id": "1", "gpu": "yes"}, {"rack": "r", "id": "2", "gpu": None}]
    unknown = blazar("host-list", "-c", "nothing")
    assert unknown.code == 1
    assert "Unknown column 'nothing'; known columns: gpu, hypervisor_hostname, id" in unknown.err


def test_columns_that_no_row_has_are_left_out(blazar: Run, stub: Stub) -> None:
    for _ in range(2):
        stub.respond({"hosts": [{key: value for key, value in HOST.items() if key != "gpu"}]})

    assert blazar("host-list", "-f", "value", "-c", "gpu", "-c", "id").out == "1\n"
    assert blazar("host-list", "-f", "json", "-c", "id", "-c", "gpu").json == [{"id": "1"}]


@pytest.mark.parametrize(("form", "printed"), [("value", ""), ("json", "[]\n"), ("csv", '"id","status"\n')])
def test_columns_and_sort_keys_of_an_empty_list_are_accepted(
    blazar: Run, stub: Stub, form: str, printed: str
) -> None:
    stub.respond({"leases": []})

    ran = blazar("lease-list", "-f", form, "-c", "id", "-c", "status", "--sort-by", "status")

    assert (ran.code, ran.out, ran.err) == (0, printed, "")


def test_hosts_are_sorted_by_any_capability(blazar: Run, stub: Stub) -> None:
    hosts = [HOST | {"id": "2"}, HOST]
    stub.respond({"hosts": hosts})
    stub.respond({"hosts": hosts})

    assert blazar("host-list", "--sort-by", "rack,id", "-f", "value", "-c", "id").out == "1\n2\n"
    assert blazar("host-list", "--sort-by", "rack:up").code == 1


def test_client_weakness_34_an_empty_table_prints_nothing_to_standard_output(blazar: Run, stub: Stub) -> None:
    for _ in range(3):
        stub.respond({"leases": []})

    table = blazar("lease-list")

    assert (table.code, table.out, table.err) == (0, "", "No leases found.\n")
    assert blazar("lease-list", "-f", "json").json == []
    assert blazar("lease-list", "-f", "value").out == ""


def test_client_weakness_35_a_successful_command_prints_nothing_to_standard_error(
    blazar: Run, stub: Stub
) -> None:
    stub.respond({"lease": LEASE}, status=201)

    assert blazar("lease-create", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine").err == ""


def test_client_weakness_25_text_stays_text(blazar: Run, stub: Stub) -> None:
    stub.respond({"lease": LEASE | {"name": "None"}})
    stub.respond({"lease": LEASE | {"name": "[1,2]"}})

    assert blazar("lease-show", ID, "-f", "value", "-c", "name").out == "None\n"
    assert blazar("lease-show", ID, "-f", "value", "-c", "name").out == "[1,2]\n"


def test_the_table_of_a_lease_shows_reservations_and_problems(blazar: Run, stub: Stub) -> None:
    broken = RESERVATION | {"status": "error", "missing_resources": True}
    stub.respond({"lease": LEASE | {"reservations": [broken], "status": "ERROR"}})

    out = blazar("lease-show", ID).out

    assert "physical:host r1 error" in out
    assert "! error: " in out
    assert "! missing_resources: " in out
    assert 'resource_properties: ["==", "$gpu", "yes"]' in out
    assert "2031-01-01 10:00  start_lease  UNDONE" in out


def test_client_weakness_49_leases_are_filtered_sorted_and_shown_with_their_status(
    blazar: Run, stub: Stub
) -> None:
    late = LEASE | {"id": OTHER, "name": "late", "start_date": "2032-01-01T10:00:00.000000"}
    late |= {"end_date": "2032-01-01T11:00:00.000000", "status": "ACTIVE", "project_id": "q"}

    def names(*words: str) -> list[str]:
        stub.respond({"leases": [LEASE, late]})
        ran = blazar("lease-list", "-f", "value", "-c", "name", *words)
        assert ran.code == 0, ran.err
        return ran.out.split()

    assert names("--sort-by", "status:desc,name") == ["mine", "late"]
    assert names("--sort-by", "start_date") == ["mine", "late"]
    assert names("--status", "active") == ["late"]
    assert names("--project", "p") == ["mine"]
    assert names("--name", "at") == ["late"]
    assert names("--after", "2031-06-01") == ["late"]
    assert names("--before", "2031-06-01") == ["mine"]
    assert names("--resource-type", "virtual:instance") == []
    stub.respond({"leases": [LEASE]})
    (row,) = blazar("lease-list", "--long", "-f", "json").json
    assert (row["status"], row["resource_types"]) == ("PENDING", ["physical:host"])


@pytest.mark.parametrize(
    ("given", "hint"), [("actve", "did you mean ACTIVE? known"), ("done", "known statuses")]
)
def test_an_unknown_status_is_refused_with_the_known_ones(
    blazar: Run, stub: Stub, given: str, hint: str
) -> None:
    ran = blazar("lease-list", "--status", "active", "--status", given)

    assert (ran.code, ran.out, stub.sent) == (1, "", [])
    assert f"Unknown status '{given}'; {hint}" in ran.err
    assert "PENDING, ACTIVE, TERMINATED, ERROR" in ran.err


def test_an_unknown_sort_key_is_refused(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE]})
    stub.respond({"resource_properties": [{"property": "a"}]})

    for ran in (blazar("lease-list", "--sort-by", "x"), blazar("host-property-list", "--sort-by", "private")):
        assert ran.code == 1
        assert "Invalid sort option" in ran.err


def test_an_empty_sort_option_keeps_the_order_of_the_service(blazar: Run, stub: Stub) -> None:
    stub.respond({"leases": [LEASE | {"name": "z"}, LEASE | {"name": "a"}]})

    assert blazar("lease-list", "--sort-by", "", "-f", "value", "-c", "name").out == "z\na\n"


def test_client_weakness_53_the_resources_of_a_lease_are_listed_with_commands_that_use_them(
    blazar: Run, stub: Stub
) -> None:
    instances = {"id": "r2", "resource_type": "virtual:instance", "status": "active", "server_group_id": "g"}
    addresses = {"id": "r3", "resource_type": "virtual:floatingip", "status": "active"}
    stub.respond({"lease": LEASE | {"reservations": [RESERVATION, instances, addresses]}})
    held = {"reservation_id": "r1", "name": "node-1", "amount": 1}
    address = {"reservation_id": "r3", "name": "203.0.113.7", "amount": 1}
    stub.respond({"allocations": [held, {"reservation_id": "r2", "name": "node-2", "amount": 2}, address]})

    rows = blazar("lease-resources", ID, "-f", "json").json

    assert [each["resources"] for each in rows] == [["node-1"], ["node-2", "node-2"], ["203.0.113.7"]]
    assert stub.sent[-1].headers["OpenStack-API-Version"] == "reservation 1.1"
    assert [each["use"].partition(" create ")[2] for each in rows[:2]] == [
        "--hint reservation=r1",
        "--flavor r2 --hint group=g",
    ]
    assert rows[2]["use"].endswith("--tags reservation:r3")


def test_each_volume_type_of_reserved_storage_has_a_command(blazar: Run, stub: Stub) -> None:
    storage = {"id": "r1", "resource_type": "virtual:volume", "status": "active"}
    types = ["reservation:r1:2011b8e5", "reservation:r1:273d5e35"]
    held = [{"reservation_id": "r1", "name": name, "amount": 1} for name in ("b@f#ssd", "b@l#disk")]
    used = {"reservation_id": "r1", "use": {"volume_types": types, "volumes": []}}
    ahead = {"reservation_id": "r1", "use": None}
    for each in (used, ahead):
        stub.respond({"lease": LEASE | {"reservations": [storage]}})
        stub.respond({"allocations": held})
        stub.respond({"resources": [each]})
    stub.respond({"lease": LEASE | {"reservations": [storage]}})
    stub.respond({"allocations": held})
    stub.respond({"error_message": "no"}, status=404)

    rows = [blazar("lease-resources", ID, "-f", "json").json[0]["use"] for _ in range(3)]

    assert rows == ["\n".join(f"openstack volume create --type {each}" for each in types), "", ""]


@pytest.mark.parametrize("status", [404, 406])
def test_operators_see_the_hosts_of_a_lease_without_api_version_1_1(
    blazar: Run, stub: Stub, status: int
) -> None:
    stub.respond({"lease": LEASE | {"reservations": [RESERVATION]}})
    stub.respond({"error_message": "not here"}, status=status)
    stub.respond({"allocations": [{"resource_id": "1", "reservations": [{"id": "r1"}]}]})
    stub.respond({"hosts": [HOST]})

    assert blazar("lease-resources", ID, "-f", "json").json[0]["resources"] == ["node-1"]


@pytest.mark.parametrize("status", [403, 404])
def test_users_who_cannot_list_allocations_see_the_commands_that_use_a_lease(
    blazar: Run, stub: Stub, status: int
) -> None:
    stub.respond({"lease": LEASE})
    stub.respond({"error_message": "no"}, status=status)
    stub.respond({"error_message": "no"}, status=403)

    ran = blazar("lease-resources", ID, "-f", "json")

    assert (ran.code, ran.json[0]["resources"]) == (0, [])


def test_without_keystone_a_project_is_selected_by_id(
    blazar: Run, stub: Stub, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("OS_AUTH_TYPE", "none")
    environment.setenv("OS_ENDPOINT", stub.url)
    for _ in range(2):
        stub.respond({"leases": [LEASE]})
    stub.respond({"error_message": "no such path"}, status=404)
    stub.respond({"error_message": "no such path"}, status=404)

    known = blazar("lease-list", "--project", "p", "-f", "value", "-c", "name")
    unknown = blazar("lease-list", "--project", "q")

    assert (known.code, known.out) == (0, "mine\n")
    assert (unknown.code, unknown.out, unknown.err) == (0, "", "No leases found.\n")


def test_the_networks_of_a_reservation_are_listed_by_their_tag() -> None:
    command = rendering.usage_command({"resource_type": "network", "id": "r1"})

    assert command == "openstack network list --tags reservation:r1"
