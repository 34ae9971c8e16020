"""Client of ``/control`` of a served cloud, to measure it or inject faults from another process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import requests

from blazar.ports.compute import Flavor
from rig.cloud.faults import Fault, FaultKind
from rig.cloud.traffic import Kind, Stats

_TIMEOUT_SECONDS = 30


class CloudControl:
    """The cloud at a URL; not thread-safe. Raises ``requests.HTTPError`` for refused requests."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/control"
        self._session = requests.Session()
        # Ignore proxies and ~/.netrc.
        self._session.trust_env = False

    def figures(self) -> Stats:
        """Return the number of calls."""
        body = self._ask("GET", "traffic")
        calls = {
            Kind(each["service"], each["method"], each["route"]): each["count"] for each in body["calls"]
        }
        return Stats(
            calls=Counter(calls),
            peak_concurrency=body["peak_concurrency"],
            faults=Counter({FaultKind(kind): count for kind, count in body["faults"].items()}),
        )

    def reset_figures(self) -> None:
        """Reset the counters."""
        self._ask("DELETE", "traffic")

    def set_latency_ms(self, latency_ms: float) -> None:
        """Set the duration of each call."""
        self._ask("PUT", "latency", {"latency_ms": latency_ms})

    def set_faults(self, *faults: Fault) -> None:
        """Replace all fault rules; an empty sequence for a cloud without faults."""
        self._ask("PUT", "faults", {"rules": [each.to_json() for each in faults]})

    def state(self) -> Mapping[str, Any]:
        """Return the whole state by table, in the format of the simulated cloud's state file."""
        state: Mapping[str, Any] = self._ask("GET", "state")
        return state

    def make_flavor(self, flavor: Flavor) -> None:
        """Create a flavor as an operator."""
        self._ask("POST", "flavors", asdict(flavor))

    def boot_server(self, name: str, project_id: str, **more: str) -> Mapping[str, Any]:
        """Return a new server; *more* may have ``flavor_id``, ``service_host`` and ``reservation_id``."""
        server: Mapping[str, Any] = self._ask(
            "POST", "servers", {"name": name, "project_id": project_id, **more}
        )
        return server

    def add_user(self, user_id: str, email: str) -> None:
        """Create a user with a mail address."""
        self._ask("POST", "users", {"user_id": user_id, "email": email})

    def add_hosts(self, aggregate: str, service_hosts: Sequence[str]) -> None:
        """Put hosts into an aggregate, by its name."""
        self._ask("POST", f"aggregates/{aggregate}/hosts", {"hosts": list(service_hosts)})

    def set_host_state(self, name: str, *, is_up: bool) -> None:
        """Make a host fail or recover."""
        self._ask("PUT", f"hosts/{name}", {"is_up": is_up})

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        answer = self._session.request(method, f"{self._url}/{path}", json=body, timeout=_TIMEOUT_SECONDS)
        answer.raise_for_status()
        return answer.json() if answer.content else None
