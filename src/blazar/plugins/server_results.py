"""Results about servers, which several resource types delete at the end."""

from __future__ import annotations

from collections.abc import Iterable

from blazar.plugins.contract import Result, ResultKind
from blazar.ports.compute import Server


def deleted_servers(servers: Iterable[Server], project_id: str) -> tuple[Result, ...]:
    """Return the results about servers that are being deleted; those of other projects are omitted."""
    own = sorted(each.name or each.id for each in servers if each.project_id == project_id)
    return tuple(Result(ResultKind.DELETED, f"server {each}") for each in own)
