"""What commands print, by the stub's answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from .command_samples import HOST, HOSTS_ARGUMENT, ID, LEASE, OTHER, RESERVATION, WHEN

if TYPE_CHECKING:
    from .conftest import Run, Stub


def test_lists_have_the_columns_and_the_order_of_4_6(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": [LEASE | {"name": "z"}, LEASE | {"name": "a", "id": OTHER}]})
    stub.will({"hosts": [HOST | {"hypervisor_hostname": "z"}, HOST]})
    stub.will({"allocations": []})

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
    stub.will({"lease": LEASE})

    ran = blazar("lease-show", ID, "-f", "json")

    assert ran.json == LEASE
    assert list(ran.json) == sorted(LEASE)


def test_in_value_format_nested_fields_are_indented_json_in_the_services_order(
    blazar: Run, stub: Stub
) -> None:
    stub.will({"lease": LEASE | {"reservations": [RESERVATION, RESERVATION | {"id": "r2"}]}})
    stub.will({"lease": LEASE})

    nested = blazar("lease-show", ID, "-f", "value", "-c", "reservations")
    plain = blazar("lease-show", ID, "-f", "value", "-c", "status")

    expected = [json.dumps(RESERVATION | {"id": each}, indent=4) for each in ("r1", "r2")]
    assert nested.out == "\n".join(expected) + "\n"
    assert plain.out == "PENDING\n"


@pytest.mark.parametrize("form", ["table", "value"])
def test_the_line_about_what_was_created_stays_where_people_read(blazar: Run, stub: Stub, form: str) -> None:
    stub.will({"lease": LEASE}, status=201)

    assert blazar("lease-create", "mine", "-f", form).out.startswith("Created a new lease:\n")


@pytest.mark.parametrize("form", ["json", "yaml", "shell"])
def test_client_weakness_28_29_and_30_programs_can_read_what_was_created(
    blazar: Run, stub: Stub, form: str
) -> None:
    stub.will({"lease": LEASE}, status=201)

    ran = blazar("lease-create", "mine", "-f", form)

    assert "Created a new lease:" in ran.err
    if form == "shell":
        assert 'name="mine"' in ran.out.splitlines()
    else:
        assert yaml.safe_load(ran.out) == LEASE


def test_client_weakness_29_lists_in_json_are_nested_data(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": [LEASE]})

    assert blazar("lease-list", "-c", "reservations", "-f", "json").json == [{"reservations": [RESERVATION]}]


def test_client_weakness_30_null_is_null_for_programs_and_empty_for_people(blazar: Run, stub: Stub) -> None:
    for _ in range(2):
        stub.will({"lease": LEASE})
        stub.will({"leases": [LEASE]})

    assert blazar("lease-show", ID, "-f", "json", "-c", "trust_id").json == {"trust_id": None}
    assert blazar("lease-list", "-f", "json", "-c", "trust_id").json == [{"trust_id": None}]
    assert blazar("lease-show", ID, "-f", "value", "-c", "trust_id").out == "\n"
    assert blazar("lease-list", "-f", "value", "-c", "trust_id").out == "\n"


def test_client_weakness_31_a_table_of_allocations_can_be_read(blazar: Run, stub: Stub) -> None:
    stub.will({"allocations": [{"resource_id": "1", "reservations": [{"id": "r1", "lease_id": ID}]}]})

    assert f"| 1           | id: r1, lease_id: {ID} |" in blazar("allocation-list", "host").out


def test_client_weakness_33_any_key_of_any_row_is_a_column(blazar: Run, stub: Stub) -> None:
    rows = [HOST, {key: value for key, value in HOST.items() if key != "gpu"} | {"id": "2", "rack": "r"}]
    stub.will({"hosts": rows})
    stub.will({"hosts": rows})

    ran = blazar("host-list", "-c", "rack", "-c", "id", "-c", "gpu", "-f", "json", "--sort-by", "id")

    assert ran.json == [{"rack": None, "id": "1", "gpu": "yes"}, {"rack": "r", "id": "2", "gpu": None}]
    unknown = blazar("host-list", "-c", "nothing")
    assert unknown.code == 1
    assert "There is no column 'nothing'" in unknown.err


def test_client_weakness_34_an_empty_table_prints_nothing_where_data_goes(blazar: Run, stub: Stub) -> None:
    for _ in range(3):
        stub.will({"leases": []})

    table = blazar("lease-list")

    assert (table.code, table.out, table.err) == (0, "", "There are none.\n")
    assert blazar("lease-list", "-f", "json").json == []
    assert blazar("lease-list", "-f", "value").out == ""


def test_client_weakness_35_nothing_is_said_that_nobody_asked_for(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE}, status=201)

    assert blazar("lease-create", *WHEN, "--reservation", HOSTS_ARGUMENT, "mine").err == ""


def test_client_weakness_25_text_stays_text(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE | {"name": "None"}})
    stub.will({"lease": LEASE | {"name": "[1,2]"}})

    assert blazar("lease-show", ID, "-f", "value", "-c", "name").out == "None\n"
    assert blazar("lease-show", ID, "-f", "value", "-c", "name").out == "[1,2]\n"


def test_the_table_of_a_lease_says_what_is_reserved_and_what_is_wrong(blazar: Run, stub: Stub) -> None:
    broken = RESERVATION | {"status": "error", "missing_resources": True}
    stub.will({"lease": LEASE | {"reservations": [broken], "status": "ERROR"}})

    out = blazar("lease-show", ID).out

    assert "physical:host r1 error" in out
    assert "! in error: " in out
    assert "! missing_resources: " in out
    assert 'resource_properties: ["==", "$gpu", "yes"]' in out
    assert "2031-01-01 10:00  start_lease  UNDONE" in out


def test_client_weakness_49_leases_are_filtered_sorted_and_shown_with_their_status(
    blazar: Run, stub: Stub
) -> None:
    late = LEASE | {"id": OTHER, "name": "late", "start_date": "2032-01-01T10:00:00.000000"}
    late |= {"end_date": "2032-01-01T11:00:00.000000", "status": "ACTIVE", "project_id": "q"}

    def names(*words: str) -> list[str]:
        stub.will({"leases": [LEASE, late]})
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
    stub.will({"leases": [LEASE]})
    (row,) = blazar("lease-list", "--long", "-f", "json").json
    assert (row["status"], row["resource_types"]) == ("PENDING", ["physical:host"])


def test_a_column_that_nobody_knows_cannot_be_sorted_by(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": [LEASE]})
    stub.will({"resource_properties": [{"property": "a"}]})

    for ran in (blazar("lease-list", "--sort-by", "x"), blazar("host-property-list", "--sort-by", "private")):
        assert ran.code == 1
        assert "Invalid sort option" in ran.err


def test_an_empty_sort_option_keeps_the_services_order(blazar: Run, stub: Stub) -> None:
    stub.will({"leases": [LEASE | {"name": "z"}, LEASE | {"name": "a"}]})

    assert blazar("lease-list", "--sort-by", "", "-f", "value", "-c", "name").out == "z\na\n"


def test_client_weakness_53_a_lease_tells_what_it_holds_and_how_it_is_used(blazar: Run, stub: Stub) -> None:
    instances = {"id": "r2", "resource_type": "virtual:instance", "status": "active", "server_group_id": "g"}
    addresses = {"id": "r3", "resource_type": "virtual:floatingip", "status": "active"}
    stub.will({"lease": LEASE | {"reservations": [RESERVATION, instances, addresses]}})
    stub.will({"allocations": [{"resource_id": "1", "reservations": [{"id": "r1"}]}]})
    stub.will({"hosts": [HOST]})

    rows = blazar("lease-resources", ID, "-f", "json").json

    assert rows[0]["resources"] == ["node-1"]
    assert [each["use"].partition(" create ")[2] for each in rows[:2]] == [
        "--hint reservation=r1",
        "--flavor r2 --hint group=g",
    ]
    assert rows[2]["use"].endswith("--tags reservation:r3")


def test_who_may_not_list_allocations_still_learns_how_to_use_a_lease(blazar: Run, stub: Stub) -> None:
    stub.will({"lease": LEASE})
    stub.will({"error_message": "no"}, status=403)

    ran = blazar("lease-resources", ID, "-f", "json")

    assert (ran.code, ran.json[0]["resources"]) == (0, [])
