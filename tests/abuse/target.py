"""The embedded service with known objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import requests
from programs import Program, start_standalone

from blazar.cloud.simulated.furnishing import PHYSICAL_NETWORK, STORAGE_POOLS
from blazar.options import MANAGER_OPTIONS

SECONDS: Final = 60
_HOST: Final = "host-1"
_OFFERED_HOST: Final = "host-2"
UNRESERVED: Final = "host-7"
"""A host for maintenance, which must not take those of other requests."""
_ADDRESS: Final = "203.0.113.200"
_POOL: Final = next(iter(STORAGE_POOLS))
_SEGMENT: Final = {
    "network_type": "vlan",
    "physical_network": PHYSICAL_NETWORK,
    "segment_id": 240,
    "rack": "r1",
}
_NEWER: Final = {"OpenStack-API-Version": "reservation 1.1"}
_LEASE: Final = {"name": "known", "start_date": "2031-01-01 00:00", "end_date": "2031-01-02 00:00"}
OFFERED: Final = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 1,
    "hypervisor_properties": f'["==", "$hypervisor_hostname", "{_OFFERED_HOST}"]',
    "resource_properties": "",
}
_EXCHANGED_HOSTS: Final = ("host-6", "host-8")
_EXCHANGED: Final = ", ".join(f'["==", "$hypervisor_hostname", "{each}"]' for each in _EXCHANGED_HOSTS)
_HELD: Final = {
    "name": "held",
    "start_date": "now",
    "end_date": "2041-01-01 00:00",
    "reservations": [{**OFFERED, "hypervisor_properties": f'["or", {_EXCHANGED}]'}],
}
"""A lease whose host is replaced by the other one."""
REPLACEMENTS: Final = "/replacements"
_OFFER: Final = {
    "start_date": "2041-01-01 00:00",
    "end_date": "2041-01-02 00:00",
    "reservations": [OFFERED],
}


@dataclass(slots=True, kw_only=True)
class Target:
    """A service, and the ids of a lease, a host, a property, a floating IP, a pool and an offer in it."""

    program: Program
    url: str
    """The URL without a path."""
    network_id: str
    known: dict[str, str] = field(default_factory=dict)
    """Ids by the names of path parameters in the document; of registered resources, by their paths."""
    session: requests.Session = field(default_factory=requests.Session)

    def close(self) -> None:
        """End the service."""
        self.session.close()
        self.program.close()

    def stock(self) -> None:
        """Create the objects that do not exist, or no longer exist, and store their ids."""
        self._ensure("lease_id", "/v1/leases", "lease", _LEASE)
        self._ensure("host_id", "/v1/os-hosts", "host", {"name": _HOST, "rack": "r1"})
        floatingip = {"floating_network_id": self.network_id, "floating_ip_address": _ADDRESS}
        self._ensure("floatingip_id", "/v1/floatingips", "floatingip", floatingip)
        pool = {"name": _POOL, "rack": "r1"}
        self._ensure("/v1/storage-pools", "/v1/storage-pools", "storage_pool", pool, headers=_NEWER)
        self._ensure("/v1/networks", "/v1/networks", "network", _SEGMENT)
        self._ensure_offer()
        self._ensure("maintained_host_id", "/v1/os-hosts", "host", {"name": UNRESERVED})
        maintenance = {"resources": [UNRESERVED]}
        self._ensure("maintenance_id", "/v1/maintenance", "maintenance", maintenance, headers=_NEWER)
        for name in _EXCHANGED_HOSTS:
            self._ensure(name, "/v1/os-hosts", "host", {"name": name})
        self._ensure_feed()
        self._ensure("held_lease_id", "/v1/leases", "lease", _HELD, headers=_NEWER)
        subscription = {"kind": "webhook", "url": "https://hooks.invalid/"}
        self._ensure("subscription_id", "/v1/subscriptions", "subscription", subscription, headers=_NEWER)
        self.known["property_name"] = "rack"

    def ids(self, path: str, names: Iterable[str]) -> dict[str, str]:
        """Return the known ids for the parameters of a path in the document."""
        if path.endswith(REPLACEMENTS):
            return {"lease_id": self.known["held_lease_id"]}
        collection = path.partition("/{")[0]
        return {each: self.known[collection if each == "resource_id" else each] for each in names}

    def replacement(self) -> dict[str, Any]:
        """Return the body of a request to replace the host of a lease."""
        answer = self._request("GET", f"/v1/leases/{self.known['held_lease_id']}/resources", headers=_NEWER)
        (held,) = answer.json()["resources"]
        host_ids = [each["id"] for each in held["resources"]]
        return {"reservation_id": held["reservation_id"], "resources": host_ids}

    def _ensure_offer(self) -> None:
        """Make an offer of a host of its own, if there is none; a project may have only a few."""
        self._ensure("offered_host_id", "/v1/os-hosts", "host", {"name": _OFFERED_HOST})
        found = self._request("GET", "/v1/offers", headers=_NEWER).json()["offers"]
        if self.known.get("offer_id") in [each["id"] for each in found]:
            return
        for each in found:
            self._request("DELETE", f"/v1/offers/{each['id']}", headers=_NEWER)
        answer = self._request("POST", "/v1/offers", headers=_NEWER, json=_OFFER)
        assert answer.status_code == 201, answer.text
        self.known["offer_id"] = answer.json()["offer"]["id"]

    def _ensure_feed(self) -> None:
        """Create a feed, if there is none, and store the token in the address of its calendar."""
        if "feed_id" in self.known:
            present = self._request("GET", f"/v1/feeds/{self.known['feed_id']}", headers=_NEWER)
            if present.status_code == 200:
                return
        answer = self._request("POST", "/v1/feeds", headers=_NEWER, json={"kind": "project"})
        assert answer.status_code == 201, answer.text
        made = answer.json()["feed"]
        self.known["feed_id"] = made["id"]
        self.known["token"] = made["url"].rpartition("/")[2].removesuffix(".ics")

    def _ensure(self, name: str, path: str, key: str, body: Mapping[str, Any], **more: Any) -> None:
        present = f"{path}/{self.known.get(name)}"
        if name in self.known and self._request("GET", present, **more).status_code == 200:
            return
        answer = self._request("POST", path, json=body, **more)
        assert answer.status_code == 201, answer.text
        self.known[name] = answer.json()[key]["id"]

    def _request(self, method: str, path: str, **more: Any) -> requests.Response:
        return self.session.request(method, self.url + path, timeout=SECONDS, **more)


def start(folder: Path, *arguments: str) -> Target:
    """Start a new service with all resource types of the document, and return it.

    Args:
        folder: Its state directory.
        arguments: Further command-line arguments.
    """
    (default,) = (each.default for each in MANAGER_OPTIONS if each.name == "plugins")
    config = folder / "blazar.conf"
    plugins = ",".join([*default, "virtual.volume.plugin", "physical.storage.plugin", "network.plugin"])
    # More requests than any calendar program makes.
    feeds = "max_per_project = 0\nreads_per_hour = 1000000\nunknown_per_hour = 1000000"
    # The names in the URLs have no address, so nothing is sent.
    notices = "channels = webhook\nmax_subscriptions_per_project = 0"
    config.write_text(f"[manager]\nplugins = {plugins}\n[feeds]\n{feeds}\n[notices]\n{notices}\n")
    program, url = start_standalone(folder, "--config-file", str(config), *arguments)
    networks = json.loads((folder / "cloud.json").read_text())["networks"]
    return Target(program=program, url=url.removesuffix("/v1"), network_id=networks[0]["id"])
