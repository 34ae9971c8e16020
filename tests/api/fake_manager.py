"""A manager for the API's tests that keeps a few dicts and checks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.fake_feeds import FakeFeeds
from api.fake_subscriptions import FakeSubscriptions
from api.manager_answers import CATALOGUE, DATE, INSTANT, MAINTENANCE, OFFER, floatingip, host, lease

from blazar.domain.errors import LeaseNotFound, NotFound, OfferNotFound, OwnerMismatch
from blazar.domain.maintenance import MaintenanceNotFound
from blazar.plugins.floatingips.errors import FloatingIPNotFound
from blazar.plugins.hosts.errors import HostNotFound, PropertyNotFound
from blazar.ports.manager import Caller, JsonObject, Manager


class FakeManager(FakeFeeds, FakeSubscriptions):
    """A manager in memory. ``calls`` records all calls; if ``failure`` is set, every method raises it."""

    def __init__(self) -> None:
        self.leases = {"l1": lease("l1"), "l2": lease("l2", "p2")}
        self.hosts = {"17": host("17", gpu="a100"), "18": host("18")}
        self.floatingips = {"f1": floatingip("f1"), "f2": floatingip("f2")}
        self.resources: dict[str, JsonObject] = {
            "t1": {"id": "t1", "name": "a", "amounts": {}, "reservable": True, "weight": 3}
        }
        self.registered_at_once = 1
        self.properties = {"gpu": False, "rack": True}
        self.calls: list[tuple[Any, ...]] = []
        self.failure: Exception | None = None

    def _asked(self, name: str, caller: Caller, *arguments: object) -> None:
        self.calls.append((name, *arguments))
        self.caller = caller
        if self.failure is not None:
            raise self.failure

    @staticmethod
    def _paged(page: JsonObject | None) -> tuple[JsonObject, ...]:
        return () if page is None else (page,)

    def list_leases(
        self, caller: Caller, project_id: str | None, page: JsonObject | None = None
    ) -> Sequence[JsonObject]:
        self._asked("list_leases", caller, project_id, *self._paged(page))
        return [each for each in self.leases.values() if project_id in (None, each["project_id"])]

    def get_lease(self, caller: Caller, lease_id: str) -> JsonObject:
        self._asked("get_lease", caller, lease_id)
        if lease_id not in self.leases:
            raise LeaseNotFound(lease_id)
        return self.leases[lease_id]

    def create_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        self._asked("create_lease", caller, body)
        self.leases["l3"] = lease("l3", caller.project_id, name=body["name"])
        return self.leases["l3"]

    def create_lease_once(self, caller: Caller, key: str, body: JsonObject) -> JsonObject:
        self._asked("create_lease_once", caller, key, body)
        is_replayed = "l3" in self.leases
        self.leases["l3"] = lease("l3", caller.project_id, name=body["name"])
        return {"lease": self.leases["l3"], "is_replayed": is_replayed}

    def preview_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        self._asked("preview_lease", caller, body)
        found = [{"resource_type": "physical:host", "amount": 1, "resources": ["17"]}]
        return {"start_date": DATE, "end_date": DATE, "before_end_date": None, "reservations": found}

    def preview_update(
        self, caller: Caller, lease_id: str, owner: JsonObject | None, body: JsonObject
    ) -> JsonObject:
        self._asked("preview_update", caller, lease_id, owner, body)
        if owner is not None:
            self._check_owner(lease_id, owner)
        return {"start_date": DATE, "end_date": DATE, "before_end_date": None, "reservations": []}

    def update_lease(self, caller: Caller, lease_id: str, body: JsonObject) -> JsonObject:
        self._asked("update_lease", caller, lease_id, body)
        self.leases[lease_id] |= {"name": body["name"]} if "name" in body else {}
        return self.leases[lease_id]

    def delete_lease(self, caller: Caller, lease_id: str) -> None:
        self._asked("delete_lease", caller, lease_id)
        del self.leases[lease_id]

    def update_owned_lease(
        self, caller: Caller, lease_id: str, owner: JsonObject, body: JsonObject
    ) -> JsonObject:
        self._asked("update_owned_lease", caller, lease_id, owner, body)
        self._check_owner(lease_id, owner)
        self.leases[lease_id] |= {"name": body["name"]} if "name" in body else {}
        return self.leases[lease_id]

    def delete_owned_lease(self, caller: Caller, lease_id: str, owner: JsonObject) -> None:
        self._asked("delete_owned_lease", caller, lease_id, owner)
        self._check_owner(lease_id, owner)
        del self.leases[lease_id]

    def _check_owner(self, lease_id: str, owner: JsonObject) -> None:
        if lease_id not in self.leases:
            raise LeaseNotFound(lease_id)
        found: Any = self.leases[lease_id]
        real = {key: found[key] for key in ("project_id", "user_id")}
        if owner != real:
            raise OwnerMismatch(lease_id, **real)

    def list_lease_allocations(self, caller: Caller, lease_id: str) -> Sequence[JsonObject]:
        self._asked("list_lease_allocations", caller, lease_id)
        found = {"reservation_id": "r1", "resource_type": "physical:host", "resource_id": "17"}
        return [{**found, "name": "node-17", "amount": 1, "start_date": INSTANT, "end_date": INSTANT}]

    def search_time_slots(self, caller: Caller, body: JsonObject) -> JsonObject:
        self._asked("search_time_slots", caller, body)
        dates = {"start_date": DATE, "end_date": DATE, "latest_start_date": DATE}
        found = {"resource_type": "physical:host", "amount": 1, "preferences_met": 0, "groups": []}
        request = {"start_date": DATE, "end_date": DATE, "reservations": []}
        slot = {"shape": 0, **dates, "reservations": [found], "request": request}
        return {"slots": [slot], "complete": True, "reasons": []}

    def get_catalogue(self, caller: Caller, with_choices: bool = False) -> JsonObject:
        self._asked("get_catalogue", caller, with_choices)
        return CATALOGUE

    def list_free_amounts(self, caller: Caller, query: JsonObject, known: Sequence[str] = ()) -> JsonObject:
        self._asked("list_free_amounts", caller, query, known)
        if "t1" in known:
            return {"etag": "t1"}
        steps = [{"time": DATE, "free": 3}]
        return {
            "etag": "t1",
            "region": None,
            "resource_type": "physical:host",
            "from": DATE,
            "to": DATE,
            "groups": [{"value": None, "total": 4, "steps": steps}],
        }

    def get_timeline(self, caller: Caller, query: JsonObject, with_ids: bool) -> JsonObject:
        self._asked("get_timeline", caller, query, with_ids)
        interval = {"start_date": DATE, "end_date": DATE}
        states = {
            "free": 1,
            "mine": 0,
            "project": 1,
            "taken": 0,
            "maintenance": 0,
            "cleaning": 0,
            "failed": 0,
        }
        asked = {"region": None, "resource_type": "physical:host", "from": DATE, "to": DATE}
        return {**asked, "groups": [{"value": "r1", "total": 2, "intervals": [{**interval, **states}]}]}

    def create_offer(self, caller: Caller, key: str | None, body: JsonObject) -> JsonObject:
        self._asked("create_offer", caller, key, body)
        return {"offer": OFFER, "is_replayed": False}

    def create_lease_offer(
        self, caller: Caller, lease_id: str, owner: JsonObject | None, key: str | None, body: JsonObject
    ) -> JsonObject:
        self._asked("create_lease_offer", caller, lease_id, owner, key, body)
        if owner is not None:
            self._check_owner(lease_id, owner)
        return {"offer": OFFER, "is_replayed": False}

    def commit_lease_offer(
        self, caller: Caller, lease_id: str, owner: JsonObject | None, offer_id: str
    ) -> JsonObject:
        self._asked("commit_lease_offer", caller, lease_id, owner, offer_id)
        if owner is not None:
            self._check_owner(lease_id, owner)
        return self.leases[lease_id]

    def list_offers(self, caller: Caller) -> Sequence[JsonObject]:
        self._asked("list_offers", caller)
        return [OFFER]

    def get_offer(self, caller: Caller, offer_id: str) -> JsonObject:
        self._asked("get_offer", caller, offer_id)
        if offer_id != OFFER["id"]:
            raise OfferNotFound(offer_id)
        return OFFER

    def delete_offer(self, caller: Caller, offer_id: str) -> None:
        self._asked("delete_offer", caller, offer_id)
        if offer_id != OFFER["id"]:
            raise OfferNotFound(offer_id)

    def get_usage(
        self, caller: Caller, query: JsonObject, project_id: str | None, is_operator: bool
    ) -> JsonObject:
        self._asked("get_usage", caller, query, project_id, is_operator)
        hours = dict.fromkeys(("reserved", "in_use", "idle", "no_show", "lost", "unknown"), 0.5)
        amount = {"unit": "hosts", "resource_class": None, "hours": hours, "steps": [hours]}
        return {
            "by": "project",
            "property": None,
            "from": DATE,
            "to": DATE,
            "complete_since": None,
            "steps": [{"start_date": DATE, "end_date": DATE}],
            "groups": [{"value": "p1", "amounts": [amount]}],
        }

    def create_maintenance(self, caller: Caller, body: JsonObject, is_dry_run: bool) -> JsonObject:
        self._asked("create_maintenance", caller, body, is_dry_run)
        return MAINTENANCE

    def list_maintenances(self, caller: Caller) -> Sequence[JsonObject]:
        self._asked("list_maintenances", caller)
        return [MAINTENANCE]

    def get_maintenance(self, caller: Caller, maintenance_id: str) -> JsonObject:
        self._asked("get_maintenance", caller, maintenance_id)
        return _get_maintenance(maintenance_id)

    def update_maintenance(self, caller: Caller, maintenance_id: str, body: JsonObject) -> JsonObject:
        self._asked("update_maintenance", caller, maintenance_id, body)
        return _get_maintenance(maintenance_id)

    def delete_maintenance(self, caller: Caller, maintenance_id: str) -> None:
        self._asked("delete_maintenance", caller, maintenance_id)
        _get_maintenance(maintenance_id)

    def list_lease_resources(self, caller: Caller, lease_id: str) -> Sequence[JsonObject]:
        self._asked("list_lease_resources", caller, lease_id)
        held = {"id": "17", "name": "node-17", "amount": 1, "start_date": INSTANT, "end_date": INSTANT}
        found = {"reservation_id": "r1", "resource_type": "physical:host", "status": "active"}
        return [{**found, "resources": [held], "use": {"scheduler_hints": {"reservation": "r1"}}}]

    def list_lease_history(self, caller: Caller, lease_id: str) -> Sequence[JsonObject]:
        self._asked("list_lease_history", caller, lease_id)
        return [{"time": INSTANT, "reservation_id": None, "text": "The lease was created."}]

    def list_hosts(self, caller: Caller, page: JsonObject | None = None) -> Sequence[JsonObject]:
        self._asked("list_hosts", caller, *self._paged(page))
        return list(self.hosts.values())

    def get_host(self, caller: Caller, host_id: str) -> JsonObject:
        self._asked("get_host", caller, host_id)
        if host_id not in self.hosts:
            raise HostNotFound(host_id)
        return self.hosts[host_id]

    def create_host(self, caller: Caller, body: JsonObject) -> JsonObject:
        self._asked("create_host", caller, body)
        self.hosts["19"] = host("19")
        return self.hosts["19"]

    def update_host(self, caller: Caller, host_id: str, body: JsonObject) -> JsonObject:
        self._asked("update_host", caller, host_id, body)
        return self.get_host(caller, host_id)

    def delete_host(self, caller: Caller, host_id: str) -> None:
        self._asked("delete_host", caller, host_id)
        self.get_host(caller, host_id)
        del self.hosts[host_id]

    def list_floatingips(self, caller: Caller, page: JsonObject | None = None) -> Sequence[JsonObject]:
        self._asked("list_floatingips", caller, *self._paged(page))
        return list(self.floatingips.values())

    def get_floatingip(self, caller: Caller, floatingip_id: str) -> JsonObject:
        self._asked("get_floatingip", caller, floatingip_id)
        if floatingip_id not in self.floatingips:
            raise FloatingIPNotFound(floatingip_id)
        return self.floatingips[floatingip_id]

    def create_floatingip(self, caller: Caller, body: JsonObject) -> JsonObject:
        self._asked("create_floatingip", caller, body)
        self.floatingips["f3"] = floatingip("f3")
        return {**self.floatingips["f3"], "created_at": INSTANT}

    def delete_floatingip(self, caller: Caller, floatingip_id: str) -> None:
        self._asked("delete_floatingip", caller, floatingip_id)
        del self.floatingips[floatingip_id]

    def list_resources(self, caller: Caller, collection: str) -> Sequence[JsonObject]:
        self._asked("list_resources", caller, collection)
        return list(self.resources.values())

    def get_resource(self, caller: Caller, collection: str, resource_id: str) -> JsonObject:
        self._asked("get_resource", caller, collection, resource_id)
        if resource_id not in self.resources:
            raise NotFound(f"No resource of {collection} has the id {resource_id}")
        return self.resources[resource_id]

    def create_resource(self, caller: Caller, collection: str, body: JsonObject) -> JsonObject:
        self._asked("create_resource", caller, collection, body)
        return self.resources["t1"]

    def create_resources(self, caller: Caller, collection: str, body: JsonObject) -> Sequence[JsonObject]:
        self._asked("create_resources", caller, collection, body)
        return [self.resources["t1"]] * self.registered_at_once

    def update_resource(
        self, caller: Caller, collection: str, resource_id: str, body: JsonObject
    ) -> JsonObject:
        self._asked("update_resource", caller, collection, resource_id, body)
        return self.resources[resource_id]

    def delete_resource(self, caller: Caller, collection: str, resource_id: str) -> None:
        self._asked("delete_resource", caller, collection, resource_id)
        del self.resources[resource_id]

    def list_collection_properties(
        self, caller: Caller, collection: str, include_private: bool
    ) -> Sequence[JsonObject]:
        return self.list_resource_properties(caller, include_private)

    def update_collection_property(
        self, caller: Caller, collection: str, name: str, private: bool | None
    ) -> JsonObject:
        return self.update_resource_property(caller, name, private)

    def list_resource_allocations(
        self, caller: Caller, collection: str, lease_id: str | None, reservation_id: str | None
    ) -> Sequence[JsonObject]:
        self._asked("list_resource_allocations", caller, collection, lease_id, reservation_id)
        return [self._allocations(each) for each in self.resources]

    def get_resource_allocations(
        self,
        caller: Caller,
        collection: str,
        resource_id: str,
        lease_id: str | None,
        reservation_id: str | None,
    ) -> JsonObject:
        self._asked("get_resource_allocations", caller, collection, resource_id, lease_id, reservation_id)
        self.get_resource(caller, collection, resource_id)
        return self._allocations(resource_id)

    def list_allocations(
        self,
        caller: Caller,
        lease_id: str | None,
        reservation_id: str | None,
        page: JsonObject | None = None,
    ) -> Sequence[JsonObject]:
        self._asked("list_allocations", caller, lease_id, reservation_id, *self._paged(page))
        return [self._allocations(each) for each in self.hosts]

    def get_allocations(
        self, caller: Caller, host_id: str, lease_id: str | None, reservation_id: str | None
    ) -> JsonObject:
        self._asked("get_allocations", caller, host_id, lease_id, reservation_id)
        self.get_host(caller, host_id)
        return self._allocations(host_id)

    def _allocations(self, host_id: str) -> JsonObject:
        allocation = {
            "id": "r1",
            "lease_id": "l1",
            "start_date": "2031-04-05T20:00:00.000000",
            "end_date": "2031-04-06T06:00:00.000000",
        }
        return {"resource_id": host_id, "reservations": [allocation] if host_id == "17" else []}

    def list_resource_properties(self, caller: Caller, include_private: bool) -> Sequence[JsonObject]:
        self._asked("list_resource_properties", caller, include_private)
        return [
            {"property": name, "private": private, "values": ["x"]}
            for name, private in self.properties.items()
            if include_private or not private
        ]

    def update_resource_property(self, caller: Caller, name: str, private: bool | None) -> JsonObject:
        self._asked("update_resource_property", caller, name, private)
        if name not in self.properties:
            raise PropertyNotFound(name)
        if private is not None:
            self.properties[name] = private
        return {
            "id": "c1",
            "resource_type": "physical:host",
            "property_name": name,
            "private": self.properties[name],
            "created_at": INSTANT,
            "updated_at": None,
        }


_: Manager = FakeManager()


def _get_maintenance(maintenance_id: str) -> JsonObject:
    if maintenance_id != MAINTENANCE["id"]:
        raise MaintenanceNotFound(maintenance_id)
    return MAINTENANCE
