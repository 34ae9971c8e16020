"""A browser as the console's server sees it: it keeps cookies, and says which page asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import falcon.testing

ORIGIN = "http://reservations.example"


@dataclass
class Browser:
    """A browser that shows a page."""

    app: Any
    origin: str = ORIGIN
    """The origin of the page."""
    cookies: dict[str, falcon.testing.Cookie] = field(default_factory=dict)
    is_marked: bool = True
    """Whether changes have the header of the console."""

    def request(self, method: str, path: str, **more: Any) -> falcon.testing.Result:
        """Send a request of the page to the console's server, and keep the cookies of the answer."""
        sent = {
            "Host": ORIGIN.partition("//")[2],
            "Cookie": "; ".join(f"{key}={each.value}" for key, each in self.cookies.items()),
            **({"X-Requested-With": "blazar-console"} if self.is_marked else {}),
            **({} if method == "GET" else {"Origin": self.origin}),
            **more.pop("headers", {}),
        }
        client = falcon.testing.TestClient(self.app)
        answer = client.simulate_request(method, path, headers=sent, **more)
        for name, cookie in answer.cookies.items():
            if cookie.value:
                self.cookies[name] = cookie
            else:
                self.cookies.pop(name, None)
        return answer

    def get(self, path: str, **more: Any) -> falcon.testing.Result:
        """Send a GET."""
        return self.request("GET", path, **more)

    def post(self, path: str, body: object, **more: Any) -> falcon.testing.Result:
        """Send a POST of JSON."""
        return self.request("POST", path, json=body, **more)
