"""The history of a lease, in the command and the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from blazarclient import exception

from .command_samples import ID
from .test_embedded_service import on, unique
from .test_terminal import run_on_a_terminal

if TYPE_CHECKING:
    from blazarclient.v1.client import Client

    from .conftest import Run, Stub

HISTORY = [
    {"time": "2031-01-01T10:00:00.000000", "reservation_id": None, "text": "The lease is active."},
    {"time": "2031-01-01T10:05:00.000000", "reservation_id": ID, "text": "A host was replaced."},
]


def test_a_lease_has_a_history(embedded: Run, host: str) -> None:
    name = unique("history")
    embedded("lease-create", name, "--duration", "1h", "--reservation", on(host), "--wait")

    shown = embedded("lease-history", name, "-f", "json")
    embedded("lease-delete", name, "--wait")

    assert shown.code == 0, shown.err
    assert set(shown.json[0]) == {"time", "reservation_id", "text"}
    assert shown.json[0]["text"]


def test_the_library_asks_for_api_1_1(client: Client, stub: Stub) -> None:
    stub.respond({"history": HISTORY})
    stub.respond({"error_message": "no lease"}, status=404)

    assert client.lease.history(ID) == HISTORY
    assert stub.calls == [("GET", f"/leases/{ID}/history", None)]
    assert stub.sent[0].headers["OpenStack-API-Version"] == "reservation 1.1"
    with pytest.raises(exception.NotFound):
        client.lease.history(ID)


def test_the_library_tells_how_to_use_a_lease(client: Client, stub: Stub) -> None:
    use = {"scheduler_hints": {"reservation": ID}}
    stub.respond({"resources": [{"reservation_id": ID, "resources": [], "use": use}]})

    (found,) = client.lease.resources(ID)

    assert found["use"] == use
    assert stub.calls == [("GET", f"/leases/{ID}/resources", None)]
    assert stub.sent[0].headers["OpenStack-API-Version"] == "reservation 1.1"


@pytest.mark.usefixtures("blazar")
def test_times_are_local_on_a_terminal(stub: Stub) -> None:
    stub.respond({"history": HISTORY})

    code, screen, errors = run_on_a_terminal("lease-history", ID)

    assert (code, errors) == (0, "")
    assert "2031-01-01 11:00 CET" in screen
    assert f"| {ID[:8]} " in screen
