"""Release of a host: delete its servers, add it to the freepool, remove it from the reservation's aggregate.

As soon as the host is in the freepool, preemptible servers may be placed on it, and Nova does not change the
zone of a host with servers. Therefore a host on which one is found is closed until its release is complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

from blazar.domain.errors import CannotChange, CloudConflict, CloudNotFound
from blazar.domain.lease import ResourceId
from blazar.plugins.contract import AllocatedResource, Assignment, Done, Outcome, Waiting
from blazar.plugins.hosts.handover import RETRY
from blazar.plugins.hosts.items import HostItem, HostsSeen, Kind
from blazar.plugins.hosts.preemption import (
    Closing,
    close_host,
    closings,
    delete_servers,
    is_preemptible,
    open_host,
)
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.spec import HostSpec
from blazar.plugins.hosts.zones import return_to_zone
from blazar.plugins.resizes import confirm, find_resizes
from blazar.plugins.server_results import deleted_servers
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate, Server


class Teardown:
    """The steps; each removes one item."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings

    def remove(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        """Remove one item."""
        try:
            return self._take_step(cloud, assignment, item, seen)
        except CloudNotFound:
            return Done()
        except CloudConflict as error:
            return Waiting(RETRY, error.message)

    def release(
        self, cloud: Cloud, assignment: Assignment[HostSpec], resources: Collection[AllocatedResource]
    ) -> None:
        """Return hosts of a reservation that has begun to the freepool; safe to repeat.

        Hosts that were not handed over yet are skipped: their servers belong to others.

        Raises:
            CannotChange: A host has servers, or servers that can return to it.
            CloudConflict: A host cannot change its zone now.
        """
        aggregates = {each.name: each for each in cloud.aggregates.list_aggregates()}
        own = aggregates.get(assignment.reservation_id)
        freepool = aggregates.get(self._settings.freepool_name)
        if own is None:
            return
        hosts = own.hosts & {str(each.facts["service_name"]) for each in resources}
        resizes = find_resizes(cloud, assignment, hosts)
        if resizes:
            first = resizes[0]
            raise CannotChange(
                f"server {first.server_id} can return to host {first.former_host}:"
                " confirm or revert its resize"
            )
        for service_host in hosts:
            if cloud.servers.list_servers(service_host=service_host):
                raise CannotChange(f"there are servers on host {service_host}")
            with suppress(CloudNotFound):  # Nova may have removed the host
                if freepool is not None and service_host not in freepool.hosts:
                    cloud.aggregates.add_host(freepool.id, service_host)
                cloud.aggregates.remove_host(own.id, service_host)

    def count_servers(self, cloud: Cloud, assignment: Assignment[HostSpec]) -> Mapping[ResourceId, int]:
        """Return the number of servers by host, also of servers that can return to it.

        Hosts without any, or not handed over, are omitted.
        """
        names = [assignment.reservation_id]
        own = next(iter(cloud.aggregates.list_aggregates(names)), None)
        hosts = [
            (each.id, str(each.facts["service_name"]))
            for each in assignment.resources
            if own is not None and each.facts["service_name"] in own.hosts
        ]
        found = cloud.executor.run(
            [partial(cloud.servers.list_servers, service_host=service_host) for _, service_host in hosts]
        )
        resizes = find_resizes(cloud, assignment, {each for _, each in hosts})
        counts = Counter(each.former_host for each in resizes)
        for (_, service_host), servers in zip(hosts, found, strict=True):
            counts[service_host] += len(servers)
        return {key: counts[service_host] for key, service_host in hosts if counts[service_host]}

    def _take_step(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        match item.kind:
            case Kind.SERVER:
                return self._delete_servers(cloud, assignment, item, seen)
            case Kind.RESIZE:
                return confirm(cloud, seen.resizes[item.server_id])
            case Kind.CLOSED if seen.freepool is not None:
                open_host(cloud, seen.freepool, item.service_host)
            case Kind.WITHDRAWN:
                return self._return_to_freepool(cloud, item, seen)
            case Kind.DISPLACED if seen.own is not None:
                return self._send_home(cloud, assignment, item, seen, seen.own)
            case Kind.MEMBER if seen.own is not None:
                return self._withdraw(cloud, assignment, item, seen, seen.own)
            case Kind.AGGREGATE if seen.own is not None:
                cloud.aggregates.delete_aggregate(seen.own.id)
        return Done()  # metadata is deleted with the aggregate

    def _withdraw(
        self,
        cloud: Cloud,
        assignment: Assignment[HostSpec],
        item: HostItem,
        seen: HostsSeen,
        own: Aggregate,
    ) -> Outcome:
        """Take a host out of the aggregate; if Nova refuses because of servers, delete them first.

        A host that left a reservation earlier keeps its servers, so it waits for them.
        """
        try:
            cloud.aggregates.remove_host(own.id, item.service_host)
        except CloudConflict as error:
            is_held = item.service_host in {each.facts["service_name"] for each in assignment.resources}
            outcome = self._delete_servers(cloud, assignment, item, seen) if is_held else Done()
            return Waiting(RETRY, error.message) if isinstance(outcome, Done) else outcome
        return Done()

    def _delete_servers(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        servers = self._servers_beside(cloud, item, seen)
        if not servers:
            return Done()
        if seen.own is not None and self._settings.owner_key in seen.own.metadata:
            # Otherwise a lessee who replaces deleted servers would keep the host forever.
            cloud.aggregates.set_aggregate_metadata(seen.own.id, {self._settings.owner_key: None})
            metadata = {
                key: text for key, text in seen.own.metadata.items() if key != self._settings.owner_key
            }
            seen.own = replace(seen.own, metadata=metadata)
        if seen.freepool is not None and item.service_host in seen.freepool.hosts:
            self._close(cloud, item, seen, (), self._closing(assignment, timedelta(0)))
        # Delete all servers of the host in one step; otherwise each would wait for the one before.
        for server_id in sorted(servers.keys() - seen.deleting_servers):
            seen.deleting_servers |= {server_id}
            # A server that is gone or cannot be deleted now does not block the others.
            with suppress(CloudNotFound, CloudConflict):
                cloud.servers.delete_server(server_id)
        return Waiting(
            RETRY,
            f"the servers on host {item.service_host} are being deleted",
            deleted_servers(servers.values(), assignment.project_id),
        )

    def _servers_beside(self, cloud: Cloud, item: HostItem, seen: HostsSeen) -> Mapping[str, Server]:
        """Return the servers on an item's host: the observed ones, or all if they could not be observed."""
        if not item.server_id:
            found = cloud.servers.list_servers(service_host=item.service_host)
            return {each.id: each for each in found}
        return {
            each.server_id: seen.servers[each.server_id]
            for each in seen.items
            if each.kind is Kind.SERVER and each.service_host == item.service_host
        }

    def _return_to_freepool(self, cloud: Cloud, item: HostItem, seen: HostsSeen) -> Outcome:
        if seen.freepool is None:
            name = self._settings.freepool_name
            return Waiting(RETRY, f"Nova has no aggregate named {name} (the freepool)")
        try:
            # A conflict may mean that the host is a member already; the next observation shows it.
            cloud.aggregates.add_host(seen.freepool.id, item.service_host)
        except CloudNotFound:
            if item.service_host in cloud.hypervisors.list_availability_zones():
                return Waiting(RETRY, "the freepool was deleted concurrently")
        return Done()

    def _send_home(
        self,
        cloud: Cloud,
        assignment: Assignment[HostSpec],
        item: HostItem,
        seen: HostsSeen,
        own: Aggregate,
    ) -> Outcome:
        """Return a host to its zone.

        Preemptible servers that arrived while the host was in no zone are deleted; others are waited for.
        """
        try:
            return_to_zone(cloud, own, item.service_host)
        except CloudConflict as error:
            refusal = error.message
        else:
            return Done()
        servers = cloud.servers.list_servers(service_host=item.service_host)
        staying = [each for each in servers if not each.is_deleting]
        if not staying or not all(is_preemptible(each) for each in staying):
            return Waiting(RETRY, refusal)
        closing = self._closing(assignment, self._settings.preemption_notice)
        closing = self._close(cloud, item, seen, staying, closing)
        return delete_servers(cloud, servers, closing.due, assignment.now)

    def _closing(self, assignment: Assignment[HostSpec], notice: timedelta) -> Closing:
        return Closing(reservation_id=assignment.reservation_id, due=assignment.now + notice)

    def _close(
        self,
        cloud: Cloud,
        item: HostItem,
        seen: HostsSeen,
        servers: Collection[Server],
        closing: Closing,
    ) -> Closing:
        """Close a host unless it is closed for any reservation; return the closing that applies."""
        known = closings(seen.freepool).get(item.service_host)
        if known is None and seen.freepool is not None:
            close_host(cloud, seen.freepool, item.service_host, servers, closing)
        return known or closing
