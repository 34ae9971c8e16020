"""The resource plugin for ``software:licence``.

A pool of the licence server is a resource; reservations hold seats of it. When a lease starts, the server
grants the seats to its project; when the lease ends, the grant is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from oslo_config.cfg import ConfigOpts

from blazar.domain.availability import Availability
from blazar.domain.errors import CannotChange, CloudConflict, CloudNotFound
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.quotas import QuotaUnit
from blazar.plugins.capabilities import (
    ActsBeforeEnd,
    DescribesEnd,
    DiscoversResources,
    HasLeftovers,
    ReleasesWhileActive,
)
from blazar.plugins.contract import (
    Assignment,
    Done,
    JsonObject,
    Outcome,
    ResourcePlugin,
    Result,
    ResultKind,
    Unusable,
    Waiting,
    Wish,
)
from blazar.plugins.end_texts import EndText
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.ports.cloud import Cloud
from blazar.settings import Settings
from blazar_licences.choice import SEATS, choose_seats
from blazar_licences.client import HttpLicenceServer
from blazar_licences.items import Kind, LicenceItem, LicencesSeen, grant_id, owner_of, prefix_of
from blazar_licences.options import read_options
from blazar_licences.port import Grant, LicenceServer, Pool, PoolState
from blazar_licences.spec import LicenceSpec, decode_spec, encode_spec, parse_spec, revise_spec

_RETRY = timedelta(seconds=10)
_HEALTH = {PoolState.CLOSED: Health.DISABLED, PoolState.REVOKED: Health.FAILED}


class Licences(
    DescribesEnd[LicenceSpec],
    DiscoversResources,
    ReleasesWhileActive[LicenceSpec],
    ActsBeforeEnd[LicenceSpec],
    HasLeftovers,
):
    """The plugin. It uses only the licence server, and no service of the cloud."""

    resource_type: ClassVar[str] = "software:licence"
    collection: ClassVar[str] = "licence"
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="seat")
    end_texts: Sequence[EndText] = (
        EndText(text="The users of the reserved seats are told about the end.", is_before_end=True),
        EndText(text="The reserved seats are taken back, also those in use."),
    )

    def __init__(self, server: LicenceServer) -> None:
        self._server = server

    def parse(self, body: JsonObject) -> LicenceSpec:
        """Return the spec of a new reservation."""
        return parse_spec(body)

    def revise(self, spec: LicenceSpec, changes: JsonObject, *, is_active: bool) -> LicenceSpec:
        """Return the spec with the keys of an update; :meth:`choose` keeps the seats that are in use."""
        return revise_spec(spec, changes)

    def encode(self, spec: LicenceSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> LicenceSpec:
        """Return the spec from its stored form."""
        return decode_spec(stored)

    def render(self, spec: LicenceSpec) -> JsonObject:
        """Return the keys that clients see: all of them."""
        return encode_spec(spec)

    def describe_end(self, spec: LicenceSpec) -> Sequence[EndText]:
        """Return that users are told, and that seats are taken back."""
        return self.end_texts

    def discover(self, cloud: Cloud) -> Sequence[PluginResource]:
        """Return the pools."""
        return [_as_resource(each) for each in self._server.list_pools()]

    def choose(self, wish: Wish[LicenceSpec], availability: Availability) -> Holdings:
        """Return the number of seats to hold, by pool."""
        return choose_seats(wish, availability)

    def wanted(self, assignment: Assignment[LicenceSpec], phase: Phase) -> frozenset[LicenceItem]:
        """Return a grant in every pool, with its terms, while the lease runs."""
        if phase is not Phase.RUNNING:
            return frozenset()
        items = set()
        for each in assignment.resources:
            pool, seats = str(each.facts["pool"]), each.share.slots if each.share else 0
            items.add(LicenceItem(Kind.GRANT, each.id, pool))
            items.add(LicenceItem(Kind.TERMS, each.id, pool, seats, assignment.window.end))
        return frozenset(items)

    def observe(self, cloud: Cloud, assignment: Assignment[LicenceSpec], phase: Phase) -> LicencesSeen:
        """Return the items that exist, also in pools that the reservation no longer holds; one request."""
        found = self._server.list_grants(prefix_of(assignment.reservation_id))
        grants: dict[str, Grant] = {_resource_id(each.pool): each for each in found}
        items = frozenset(
            item
            for scope, each in grants.items()
            for item in (
                LicenceItem(Kind.GRANT, scope, each.pool),
                LicenceItem(Kind.TERMS, scope, each.pool, each.seats, each.until),
            )
        )
        return LicencesSeen(grants=grants, items=items, notes={"grants": sorted(each.id for each in found)})

    def make(
        self, cloud: Cloud, assignment: Assignment[LicenceSpec], item: LicenceItem, seen: LicencesSeen
    ) -> Outcome:
        """Create a grant, or change its terms, with one request that can be repeated."""
        wished = self._grant_for(assignment, item)
        if seen.grants.get(item.scope) == wished:
            return Done()  # the step for the grant has set its terms
        try:
            self._server.put_grant(wished)
        except CloudConflict as error:
            # An operator granted seats by hand. Use another pool, but do not move seats granted before.
            is_new = item.scope not in seen.grants
            return Unusable(error.message) if is_new else Waiting(_RETRY, error.message)
        except CloudNotFound as error:
            return Unusable(error.message, is_final=True)
        seen.grants[item.scope] = wished
        return Done()

    def remove(
        self, cloud: Cloud, assignment: Assignment[LicenceSpec], item: LicenceItem, seen: LicencesSeen
    ) -> Outcome:
        """Delete a grant."""
        if item.kind is Kind.TERMS:
            return Done()  # replaced by new terms, or deleted with the grant
        try:
            self._server.delete_grant(grant_id(assignment.reservation_id, item.pool))
        except CloudNotFound:
            return Done()
        seats = seen.grants[item.scope].seats
        return Done((Result(ResultKind.RELEASED, f"{seats} seats of {item.pool}"),))

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[LicenceSpec], before: LicenceSpec
    ) -> Mapping[ResourceId, int]:
        """Return the seats in use by pool if the reservation is to shrink; otherwise nothing."""
        if assignment.spec.seats >= before.seats:
            return {}
        found = self._server.list_grants(prefix_of(assignment.reservation_id))
        return {_resource_id(each.pool): each.in_use for each in found}

    def release(self, cloud: Cloud, assignment: Assignment[LicenceSpec], kept: Holdings) -> None:
        """Take away the seats that the reservation no longer holds.

        Raises:
            CannotChange: The server refuses, because they are in use.
        """
        for each in self._server.list_grants(prefix_of(assignment.reservation_id)):
            share = kept.get(_resource_id(each.pool))
            seats = share.slots if share else 0
            if seats < each.seats:
                try:
                    self._server.put_grant(replace(each, seats=seats))
                except CloudConflict as error:
                    raise CannotChange(f"seats: {error.message}") from error

    def before_end(self, cloud: Cloud, assignment: Assignment[LicenceSpec], due: datetime) -> Outcome:
        """Notify the users of the seats of the end."""
        for each in self._server.list_grants(prefix_of(assignment.reservation_id)):
            if each.notice != due:
                self._server.put_notice(each.id, due)
        return Done()

    def leftover_kinds(self, sweep: Sweep) -> tuple[LeftoverKind, ...]:
        """Return grants."""
        return (LeftoverGrants(self._server),)

    def _grant_for(self, assignment: Assignment[LicenceSpec], item: LicenceItem) -> Grant:
        """Return the grant of an item, with the terms that it should have."""
        shares = {each.id: each.share for each in assignment.resources}
        share = shares[ResourceId(item.scope)]
        return Grant(
            id=grant_id(assignment.reservation_id, item.pool),
            pool=item.pool,
            project_id=assignment.project_id,
            seats=share.slots if share else 0,
            until=assignment.window.end,
        )


class LeftoverGrants:
    """Grants that have the plugin's mark."""

    name: ClassVar[str] = "grant"

    def __init__(self, server: LicenceServer) -> None:
        self._server = server

    def candidates(self) -> Mapping[str, str | None]:
        """Return the owners of all grants that have the plugin's mark, by grant."""
        return {each.id: owner_of(each) for each in self._server.list_grants(prefix_of())}

    def remove(self, name: str) -> bool:
        """Delete a grant. Raises CloudNotFound."""
        self._server.delete_grant(name)
        return True


def _as_resource(pool: Pool) -> PluginResource:
    health = _HEALTH.get(pool.state)
    return PluginResource(
        collection=Licences.collection,
        name=pool.name,
        facts={"pool": pool.name, "product": pool.product},
        amounts={SEATS: pool.seats},
        diagnosis=Diagnosis(health=health, problem=pool.note or pool.state) if health else HEALTHY,
    )


def _resource_id(pool: str) -> ResourceId:
    return PluginResource(collection=Licences.collection, name=pool).id


def make_plugin(settings: Settings, conf: ConfigOpts) -> Licences:
    """Return the plugin; the target of the entry point ``software.licence.plugin``.

    Raises:
        ValueError: An option is invalid or missing; the message names it.
    """
    options = read_options(conf)
    return Licences(HttpLicenceServer(options.endpoint, options.token, options.timeout))


if TYPE_CHECKING:
    _: type[ResourcePlugin[LicenceSpec, LicenceItem, LicencesSeen]] = Licences
