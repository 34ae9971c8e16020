"""Our own client library, with requests passed directly to the application instead of the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import falcon.testing
import requests
from app.http_env import ADMIN, HttpEnv, Who
from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session
from requests.adapters import BaseAdapter

from blazarclient.client import Client

HOST = "blazar.example"


@dataclass(slots=True)
class Wire(BaseAdapter):
    """HTTP adapter that passes requests to the application, mounted at *mounted_at*."""

    env: HttpEnv
    mounted_at: str = ""

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float, float] | tuple[float, None] | None = None,
        verify: bool | str = True,
        cert: bytes | str | tuple[bytes | str, bytes | str] | None = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Return the application's answer."""
        url = urlsplit(str(request.url))
        assert url.path.startswith(self.mounted_at), f"{url.path} is not below {self.mounted_at}"
        answer = falcon.testing.TestClient(self.env.app).simulate_request(
            str(request.method),
            url.path.removeprefix(self.mounted_at) or "/",
            root_path=self.mounted_at,
            query_string=url.query,
            headers=dict(request.headers),
            body=request.body,
            host=HOST,
        )
        response = requests.Response()
        response.status_code = answer.status_code
        response.headers.update(answer.headers)
        response._content = answer.content
        response.url, response.request = str(request.url), request
        return response

    def close(self) -> None:
        """Do nothing, as there is no connection to close."""


def session_to(env: HttpEnv, path: str = "/v1", *, who: Who = ADMIN, mounted_at: str = "") -> Session:
    """Return a session whose catalogue URL for the service ends in *path*."""
    transport = requests.Session()
    transport.mount("http://", Wire(env, mounted_at))
    headers = {name: value for name, value in who.headers.items() if value}
    auth = NoAuth(endpoint=f"http://{HOST}{mounted_at}{path}")
    return Session(auth=auth, session=transport, additional_headers=headers)


def client_of(env: HttpEnv, *, who: Who = ADMIN) -> Any:
    """Return the client library, configured as with Keystone's catalogue."""
    return Client(session=session_to(env, who=who))
