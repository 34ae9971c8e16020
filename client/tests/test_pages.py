"""Library and commands: lists that API 1.1 sends in pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from blazarclient import exception
from blazarclient.v1.client import Client

from .conftest import run_blazar, running

if TYPE_CHECKING:
    from .conftest import Stub

LISTS: dict[str, tuple[str, str, Callable[[Client], Any]]] = {
    "leases": ("/leases", "id", lambda client: client.lease.list(sort_by="id")),
    "hosts": ("/os-hosts", "id", lambda client: client.host.list(sort_by="id")),
    "floatingips": ("/floatingips", "id", lambda client: client.floatingip.list(sort_by="id")),
    "allocations": (
        "/os-hosts/allocations",
        "resource_id",
        lambda client: client.allocation.list("os-hosts", sort_by="resource_id"),
    ),
}
"""Path of a list, key of the id of its items, and the call that lists them sorted, by key of the list."""


def linked(key: str, query: str) -> dict[str, Any]:
    """Return the link to a page, with an address that clients cannot reach."""
    return {f"{key}_links": [{"rel": "next", "href": f"http://inside.example:1/v1/{key}?{query}"}]}


@pytest.mark.parametrize("key", LISTS)
def test_a_list_has_the_items_of_all_pages(stub: Stub, client: Client, key: str) -> None:
    path, name, items = LISTS[key]
    stub.respond({key: [{name: "3"}], **linked(key, "limit=1&marker=3")})
    stub.respond({key: [{name: "1"}], **linked(key, "limit=1&marker=1")})
    stub.respond({key: [{name: "2"}]})

    assert [each[name] for each in items(client)] == ["1", "2", "3"]
    paths = [path, f"{path}?limit=1&marker=3", f"{path}?limit=1&marker=1"]
    assert [each.path for each in stub.sent] == paths


def test_filters_of_allocations_are_those_of_the_link(stub: Stub, client: Client) -> None:
    stub.respond({"allocations": [], **linked("allocations", "lease_id=L&limit=1&marker=3")})
    stub.respond({"allocations": []})

    client.allocation.list("os-hosts", lease_id="L")

    queries = ["lease_id=L", "lease_id=L&limit=1&marker=3"]
    assert [each.path for each in stub.sent] == [f"/os-hosts/allocations?{each}" for each in queries]


def test_a_page_that_links_to_a_page_before_it_is_an_error(stub: Stub, client: Client) -> None:
    for _each in range(3):
        stub.respond({"leases": [{"id": "1"}], **linked("leases", "marker=1")})

    with pytest.raises(exception.BlazarClientException, match=r"/leases\?marker=1 is linked again"):
        client.lease.list()


def test_a_command_at_api_1_1_lists_more_than_the_limit_of_the_service(
    tmp_path: Path, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.setenv("OS_AUTH_TYPE", "none")
    environment.setenv("OS_RESERVATION_API_VERSION", "1.1")
    with running(tmp_path, "\n[api]\nmax_limit = 1") as url:
        environment.setenv("OS_ENDPOINT", url)
        assert run_blazar(capsys, "host-create", "host-1").code == 0
        assert run_blazar(capsys, "host-create", "host-2").code == 0

        listed = run_blazar(capsys, "host-list", "-f", "value", "-c", "hypervisor_hostname")

    assert (listed.code, listed.out) == (0, "host-1\nhost-2\n")
