"""Library: construction of clients, requests and errors."""

from __future__ import annotations

import logging
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from keystoneauth1 import adapter, exceptions
from keystoneauth1 import session as ksa_session

from blazarclient import base, exception, version
from blazarclient import client as blazar_client
from blazarclient.v1 import allocations, floatingips, hosts, leases
from blazarclient.v1.client import Client

if TYPE_CHECKING:
    from .conftest import Stub


def test_the_version_is_5_0_0() -> None:
    assert version.__version__ == "5.0.0"


# --- the factory ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [1, "1", "1a0"])
def test_the_factory_returns_clients_of_version_1(asked: object) -> None:
    made = blazar_client.Client(asked, "reservation", "http://127.0.0.1/v1", "token")

    assert type(made) is Client
    assert (made.version, made.blazar_url, made.auth_token, made.session) == (
        "1",
        "http://127.0.0.1/v1",
        "token",
        None,
    )


@pytest.mark.parametrize("asked", [1.0, "1.0", 2, "v1", None])
def test_the_factory_refuses_other_versions_and_lists_the_supported_ones(asked: object) -> None:
    with pytest.raises(exception.UnsupportedVersion, match="1, 1a0") as caught:
        blazar_client.Client(asked, blazar_url="http://127.0.0.1/v1", auth_token="token")

    assert caught.value.kwargs["code"] == caught.value.code == 406


def test_the_default_service_type_is_reservation(stub: Stub, session: ksa_session.Session) -> None:
    stub.respond({"leases": []})

    assert blazar_client.Client(session=session).lease.list() == []


def test_a_client_has_its_managers(client: Client) -> None:
    assert type(client.lease) is leases.LeaseClientManager
    assert type(client.host) is hosts.ComputeHostClientManager
    assert type(client.floatingip) is floatingips.FloatingIPClientManager
    assert type(client.allocation) is allocations.AllocationClientManager


@pytest.mark.parametrize("given", [{}, {"blazar_url": "http://127.0.0.1/v1"}, {"auth_token": "token"}])
def test_a_client_needs_a_session_or_a_url_and_a_token(given: dict[str, str]) -> None:
    with pytest.raises(exception.InsufficientAuthInformation) as caught:
        Client(**given)

    assert caught.value.kwargs["code"] == 400
    with pytest.raises(exception.InsufficientAuthInformation):
        base.BaseClientManager(**given)


def test_a_url_and_a_token_are_deprecated_but_unknown_keywords_are_ignored_with_them(
    stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        Client(stub.url, "token", no_such_keyword=1, region_name="one")

    assert ["deprecated" in each.getMessage() for each in caplog.records] == [True]


@pytest.mark.parametrize(
    "given",
    [
        {"no_such_keyword": 1},
        {"version": "1"},
        {"min_version": "1"},
        {"max_version": "1"},
        {"user_agent": "me"},
    ],
)
def test_keywords_that_the_adapter_does_not_accept_are_a_type_error(
    session: ksa_session.Session, given: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        Client(session=session, **given)


# --- requests ---------------------------------------------------------------------------------------------


def test_requests_have_a_token_and_accept_json(stub: Stub, client: Client) -> None:
    stub.respond({"leases": []})
    stub.respond({"host": {"id": "1"}})

    client.lease.list()
    client.host.create("compute-1")

    for sent in stub.sent:
        assert sent.headers["Accept"] == "application/json"
        assert sent.headers["User-Agent"] == "python-blazarclient"
        assert sent.headers["X-Auth-Token"] in ("token-1", "some-token")
        assert "OpenStack-API-Version" not in sent.headers
    assert stub.sent[1].headers["Content-Type"] == "application/json"


def test_adapter_options_are_passed_on(stub: Stub, session: ksa_session.Session) -> None:
    stub.respond({"leases": []})
    client = blazar_client.Client(
        session=session,
        interface="publicURL",
        region_name="one",
        connect_retries=2,
        status_code_retries=1,
        default_microversion="1.0",
        global_request_id="req-8f4c3c4e-0000-0000-0000-000000000000",
        additional_headers={"X-Extra": "yes"},
    )

    client.lease.list()

    headers = stub.sent[0].headers
    assert headers["OpenStack-API-Version"] == "reservation 1.0"
    assert headers["X-OpenStack-Request-ID"] == "req-8f4c3c4e-0000-0000-0000-000000000000"
    assert headers["X-Extra"] == "yes"


def test_the_endpoint_can_be_overridden(stub: Stub, session: ksa_session.Session) -> None:
    stub.respond({"leases": []})

    assert Client(session=session, endpoint_override=stub.url).lease.list() == []


def test_the_version_header_names_the_service_and_not_its_type_in_the_catalogue(
    stub: Stub, session: ksa_session.Session
) -> None:
    stub.respond({"leases": []})
    stub.respond({"leases": []})
    versions: tuple[dict[str, str], ...] = ({"default_microversion": "1.0"}, {})

    for given in versions:
        client = Client(session=session, service_type="resv2", endpoint_override=stub.url, **given)
        client.lease.list()

    assert [each.headers.get("OpenStack-API-Version") for each in stub.sent] == ["reservation 1.0", None]


def test_the_region_is_selected_from_the_catalogue(session: ksa_session.Session) -> None:
    client = blazar_client.Client(session=session, region_name="two")

    with pytest.raises(exception.NotFound, match="wrong path /elsewhere/v1/leases"):
        client.lease.list()


def test_the_session_can_be_an_adapter_with_a_region(stub: Stub, session: ksa_session.Session) -> None:
    stub.respond({"leases": []})
    pinned = adapter.Adapter(session, region_name="one", interface="public")

    assert blazar_client.Client(session=pinned).lease.list() == []


def test_a_catalogue_without_the_service_is_an_error_of_keystoneauth(session: ksa_session.Session) -> None:
    with pytest.raises(exceptions.EndpointNotFound):
        blazar_client.Client(service_type="reservations", session=session, region_name="one").lease.list()


def test_ids_and_names_are_escaped_in_paths(stub: Stub, client: Client) -> None:
    strange = "a/b c?d=#é%2F"
    for _ in range(3):
        stub.respond({"lease": {}, "host": {}, "resource_property": {}})

    client.lease.get(strange)
    client.host.update(strange, {"rack": "r1"})
    client.host.set_property(strange, True)

    escaped = "a%2Fb%20c%3Fd%3D%23%C3%A9%252F"
    assert [each.path for each in stub.sent] == [
        f"/leases/{escaped}",
        f"/os-hosts/{escaped}",
        f"/os-hosts/properties/{escaped}",
    ]


@pytest.mark.parametrize("empty", ["", None, ".", ".."])
def test_an_id_that_would_address_another_resource_is_refused_without_a_request(
    stub: Stub, client: Client, empty: Any
) -> None:
    with pytest.raises(exception.NotFound, match="invalid id"):
        client.lease.delete(empty)

    assert stub.sent == []


# --- request_manager --------------------------------------------------------------------------------------


def test_the_request_manager_returns_the_response_and_its_body(stub: Stub, client: Client) -> None:
    for number in range(6):
        stub.respond({"n": number}, status=201)
    manager = client.host.request_manager

    answers = [
        manager.get("/os-hosts/allocations"),
        manager.post("/leases", body={"a": 1}),
        manager.put("/leases/1", body={"b": 2}),
        manager.patch("/os-hosts/properties/x", body={"c": 3}),
        manager.delete("/leases/1"),
        manager.request("/leases", "GET"),
    ]

    assert [(response.status_code, body) for response, body in answers] == [
        (201, {"n": number}) for number in range(6)
    ]
    assert stub.calls == [
        ("GET", "/os-hosts/allocations", None),
        ("POST", "/leases", {"a": 1}),
        ("PUT", "/leases/1", {"b": 2}),
        ("PATCH", "/os-hosts/properties/x", {"c": 3}),
        ("DELETE", "/leases/1", None),
        ("GET", "/leases", None),
    ]


@pytest.mark.parametrize(("status", "body"), [(204, None), (200, None), (200, "<p>hello</p>")])
def test_a_body_that_is_not_json_is_none(stub: Stub, client: Client, status: int, body: str | None) -> None:
    stub.respond(body, status=status)

    response, parsed = client.lease.request_manager.get("/leases")

    assert response.status_code == status
    assert parsed is None


@pytest.mark.parametrize("body", ["<p>hello</p>", {"something": "else"}, ["leases"]])
def test_a_response_without_the_expected_key_is_a_client_exception(
    stub: Stub, client: Client, body: Any
) -> None:
    stub.respond(body)

    with pytest.raises(exception.BlazarClientException, match="no 'leases'"):
        client.lease.list()


# --- errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, exception.BadRequest),
        (401, exception.NotAuthorized),
        (403, exception.Forbidden),
        (404, exception.NotFound),
        (406, exception.BlazarClientException),
        (409, exception.Conflict),
        (413, exception.BlazarClientException),
        (500, exception.BlazarClientException),
        (503, exception.ServiceUnavailable),
    ],
)
def test_client_weakness_36_each_error_status_raises_its_exception(
    stub: Stub, client: Client, status: int, expected: type[exception.BlazarClientException]
) -> None:
    body = {"error_code": status, "error_message": "Not enough hosts available", "error_name": status}
    for _ in range(2):  # keystoneauth reauthenticates after a 401 and repeats the request
        stub.respond(body, status=status, X_OpenStack_Request_ID="req-1")

    with pytest.raises(exception.BlazarClientException) as caught:
        client.lease.list()

    assert type(caught.value) is expected
    assert caught.value.args[0] == str(caught.value) == "ERROR: Not enough hosts available"
    assert caught.value.kwargs["code"] == caught.value.code == status
    assert caught.value.kwargs["request_id"] == "req-1"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"error": {"code": 500, "title": "x"}}, "ERROR: {'error': {'code': 500, 'title': 'x'}}"),
        ([{"oops": 1}, 2], "ERROR: [{'oops': 1}, 2]"),
        ([], "ERROR: []"),
        ({"error_message": {"field": "bad"}}, "ERROR: {'field': 'bad'}"),
        ("<h1>Bad Gateway</h1>", "ERROR: <h1>Bad Gateway</h1>"),
        ('"text"', 'ERROR: "text"'),
        (None, "ERROR: Internal Server Error"),
    ],
)
def test_any_error_body_becomes_a_readable_message(stub: Stub, client: Client, body: Any, text: str) -> None:
    stub.respond(body, status=500)

    with pytest.raises(exception.BlazarClientException) as caught:
        client.lease.list()

    assert caught.value.args[0] == text


def test_a_session_reauthenticates_when_its_token_is_refused(stub: Stub, by_session: Client) -> None:
    stub.respond({"error": {"code": 401, "title": "Unauthorized"}}, status=401)
    stub.respond({"leases": [{"id": "1"}]})

    assert by_session.lease.list() == [{"id": "1"}]
    assert [each.headers["X-Auth-Token"] for each in stub.sent] == ["token-1", "token-2"]


def test_a_refused_connection_is_an_error_of_keystoneauth(session: ksa_session.Session) -> None:
    client = Client(session=session, endpoint_override="http://127.0.0.1:9/v1")

    with pytest.raises(exceptions.ConnectFailure):
        client.lease.list()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("BlazarClientException", 500),
        ("CommandError", 401),
        ("NotAuthorized", 401),
        ("NoBlazarEndpoint", 404),
        ("NoUniqueMatch", 409),
        ("UnsupportedVersion", 406),
        ("IncorrectLease", 409),
        ("DuplicatedLeaseParameters", 400),
        ("InsufficientAuthInformation", 400),
        ("ResourcePropertyNotFound", 404),
    ],
)
def test_published_exceptions_keep_their_codes(name: str, code: int) -> None:
    published = getattr(exception, name)

    assert issubclass(published, exception.BlazarClientException)
    assert published.code == published().code == published().kwargs["code"] == code
    assert published().args == (published.message,)


def test_an_exception_can_be_constructed_from_a_code_or_a_message_with_details() -> None:
    assert exception.BlazarClientException(code=404).kwargs == {"code": 404}
    assert exception.BlazarClientException(code=404).code == 404
    assert exception.BlazarClientException("100% wrong", detail=1).kwargs == {"detail": 1, "code": 500}
    assert str(exception.BlazarClientException("100% wrong")) == "100% wrong"


def test_the_message_of_a_class_is_formatted_with_the_details() -> None:
    class Broken(exception.BlazarClientException):
        message = "Cannot do %(what)s"

    assert str(Broken(what="that")) == "Cannot do that"
    assert str(Broken()) == "Cannot do %(what)s"


def test_exceptions_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(exception.Conflict("ERROR: no", code=409, request_id="r")))

    assert (str(copy), copy.kwargs) == ("ERROR: no", {"code": 409, "request_id": "r"})


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://h:1234", "http://h:1234/v1"),
        ("http://h:1234/", "http://h:1234/v1"),
        ("http://h/reservation", "http://h/reservation/v1"),
        ("http://h/v1", "http://h/v1"),
        ("http://h/v1/", "http://h/v1/"),
        ("http://h/v1/%(project_id)s", "http://h/v1/%(project_id)s"),
        ("http://h/reservation/v2.0", "http://h/reservation/v2.0"),
        ("http://h/v2cloud/reservation", "http://h/v2cloud/reservation/v1"),
    ],
)
def test_a_url_without_a_version_is_completed(given: str, used: str) -> None:
    assert base.with_version(given) == used


def test_the_library_accepts_urls_without_a_version(stub: Stub, session: ksa_session.Session) -> None:
    root = stub.url.removesuffix("/v1")
    for each in (Client(session=session, endpoint_override=root), Client(root, "some-token")):
        stub.respond({"leases": []})
        assert each.lease.list() == []
