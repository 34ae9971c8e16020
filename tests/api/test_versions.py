from __future__ import annotations

import io
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from api.conftest import Api
from keystoneauth1 import adapter, discover, noauth, session

URL = "https://blazar.example:1234"


def entry(base: str) -> dict[str, object]:
    return {
        "id": "v1.0",
        "status": "CURRENT",
        "links": [{"href": f"{base}/v1", "rel": "self"}],
        "min_version": "1.0",
        "max_version": "1.1",
    }


@pytest.mark.parametrize("path", ["/", "/versions"])
def test_weakness_52_the_root_lists_the_one_version_to_everyone(api: Api, path: str) -> None:
    answer = api.get(path, host="blazar.example", port=1234, protocol="https")

    assert answer.status_code == 300
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == {"versions": [entry(URL)]}


@pytest.mark.parametrize("path", ["/v1", "/v1/"])
def test_version_1_has_a_document(api: Api, path: str) -> None:
    answer = api.get(path, host="blazar.example", port=1234, protocol="https")

    assert answer.status_code == 200
    assert answer.json == {"version": entry(URL)}


@pytest.mark.parametrize("path", ["/", "/v1"])
def test_links_stay_below_the_mount_point(api: Api, path: str) -> None:
    answer = api.get(path, root_path="/reservation", host="h", port=80)

    assert '"href": "http://h/reservation/v1"' in answer.text


def test_a_request_for_the_mount_point_itself_is_answered(api: Api) -> None:
    answer = api.get("/", extras={"PATH_INFO": "", "SCRIPT_NAME": "/reservation"}, host="h", port=80)

    assert answer.status_code == 300
    assert answer.json["versions"][0]["links"][0]["href"] == "http://h/reservation/v1"


class Wire(requests.adapters.BaseAdapter):
    """An adapter for ``requests`` that calls the application without a socket."""

    def __init__(self, api: Api) -> None:
        super().__init__()
        self._api = api

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        url = urlsplit(request.url or "")
        answer = self._api.request(
            request.method or "GET",
            str(url.path or "/").removeprefix("/reservation") or "/",
            root_path="/reservation" if str(url.path).startswith("/reservation") else "",
            host=str(url.hostname),
            port=url.port or 443,
            protocol="https",
            headers=dict(request.headers),
        )
        response = requests.Response()
        response.status_code = answer.status_code
        response.headers.update(answer.headers)
        response.raw = io.BytesIO(answer.content)
        response.url = request.url or ""
        response.request = request
        return response

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def client(api: Api) -> session.Session:
    http = requests.Session()
    http.mount("https://", Wire(api))
    return session.Session(session=http)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/reservation", "/reservation/v1"])
def test_keystoneauth_discovers_version_1_from_any_catalogue_url(client: session.Session, path: str) -> None:
    data = discover.get_discovery(client, URL + path).version_data()

    base = URL + ("/reservation" if path.startswith("/reservation") else "")
    assert [(each["version"], each["url"].rstrip("/")) for each in data] == [((1, 0), base + "/v1")]


@pytest.mark.parametrize("path", ["", "/v1", "/reservation", "/reservation/v1"])
def test_a_keystoneauth_adapter_finds_the_leases(client: session.Session, path: str) -> None:
    service = adapter.Adapter(
        client,
        auth=noauth.NoAuth(endpoint=URL + path),
        service_type="reservation",
        version="1",
    )
    endpoint = service.get_endpoint_data()
    assert endpoint is not None

    found = client.get(f"{endpoint.url}".rstrip("/") + "/leases", auth=noauth.NoAuth())

    assert found.status_code == 200
    assert len(found.json()["leases"]) == 2
