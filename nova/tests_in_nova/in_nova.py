"""Common fixtures: Nova's own host manager without its databases, and Nova's objects."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import nova.conf
from nova import context, objects
from nova.scheduler.host_manager import HostManager, HostState
from truth_table import Host, Membership, Options, Server

objects.register_all()

PATH = "blazarnova.scheduler.filters.blazar_filter.BlazarFilter"
FILTER_SCHEDULER = f"""
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = {PATH}
enabled_filters = BlazarFilter
track_instance_changes = false
"""
"""The lines of ``nova.conf`` that load the filter, and it alone."""


class OfflineHostManager(HostManager):  # type: ignore[misc]
    """Nova's host manager, but for what it reads from databases when it begins."""

    def refresh_cells_caches(self) -> None:
        """Know no cells."""
        self.cells: dict[str, Any] = {}
        self.enabled_cells: list[Any] = []

    def _init_aggregates(self) -> None:
        """Know no aggregates; hosts are handed over with theirs."""


def host_manager(folder: Path, nova_conf: str) -> Any:
    """Return a host manager that has read a file with this text as its ``nova.conf``."""
    file = folder / "nova.conf"
    file.write_text(nova_conf, encoding="utf-8")
    nova.conf.CONF(["--config-file", str(file)], default_config_dirs=[])
    return OfflineHostManager()


def blazar_host_manager(folder: Path, options: Options) -> Any:
    """Return a host manager whose only filter is BlazarFilter, with these options."""
    return host_manager(folder, FILTER_SCHEDULER + options.as_text())


def host_states(hosts: Sequence[Host]) -> list[Any]:
    """Return the hosts as the scheduler has them: those in one aggregate share its object."""
    aggregates: dict[str, Any] = {}
    states = []
    for number, host_in_table in enumerate(hosts):
        name = f"host-{number}"
        host = [replace(each, metadata=each.metadata_on(name)) for each in host_in_table]
        for each in host:
            aggregates.setdefault(repr(each), aggregate(len(aggregates), each))
        state = HostState(name, name, str(uuid.uuid4()))
        state.update(aggregates=[aggregates[repr(each)] for each in host])
        states.append(state)
    return states


def aggregate(number: int, membership: Membership) -> Any:
    """Return an aggregate of Nova; its zone is one of its metadata."""
    zone = {} if membership.zone is None else {"availability_zone": membership.zone}
    return objects.Aggregate(
        id=number, uuid=str(uuid.uuid4()), name=membership.name, metadata={**membership.metadata, **zone}
    )


def request_spec(server: Server, *, hints: Mapping[str, Any] | None = None) -> Any:
    """Return the request as it reaches the scheduler: made from what the user wrote, and sent over RPC.

    Args:
        server: What is asked for; an absent hint is left out.
        hints: All hints, instead of the server's own.
    """
    written = {} if server.hint is None else {"reservation": server.hint}
    spec = objects.RequestSpec.from_components(
        context.get_admin_context(),
        instance_uuid=str(uuid.uuid4()),
        image=None,
        flavor=flavor(extra_specs=dict(server.extra_specs)),
        numa_topology=None,
        pci_requests=None,
        filter_properties={"scheduler_hints": written if hints is None else dict(hints)},
        instance_group=None,
        availability_zone=None,
        project_id=server.project_id,
        user_id="lessee",
    )
    spec.project_id = server.project_id
    return objects.RequestSpec.obj_from_primitive(spec.obj_to_primitive())


def flavor(**fields: Any) -> Any:
    """Return a flavor; extra specs are loaded only if they are among the fields."""
    sizes = {"vcpus": 1, "memory_mb": 512, "root_gb": 1, "ephemeral_gb": 0, "swap": 0}
    return objects.Flavor(id=1, flavorid="1", name="small", **sizes, **fields)


def passing(manager: Any, hosts: Iterable[Any], spec: Any, index: int = 0) -> list[Any]:
    """Return the hosts that Nova's filter handler lets through for the instance of that index."""
    return list(manager.get_filtered_hosts(hosts, spec, index))
