"""What happens outside inside of a request: with the rights of whoever makes it, and before the filters."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from blazar.booking.context import Context, Plugin
from blazar.booking.enforcement import Enforcing
from blazar.app.quotas import Quota
from blazar.domain.errors import (
    CannotChange,
    CloudConflict,
    CloudDisagrees,
    CloudError,
    CloudNotFound,
    CloudRefused,
    Unavailable,
)
from blazar.domain.lease import Lease, ReservationId
from blazar.ports.compute import Flavor, Lessee, LesseeCompute, ServerGroup
from blazar.ports.manager import Caller

_logger = logging.getLogger(__name__)


@contextmanager
def telling_what_the_cloud_says() -> Iterator[None]:
    """Answer with what the cloud has against a request: whoever makes it can do something about it.

    Raises:
        CloudDisagrees: In the place of what the cloud's adapters raise, except for ``CloudUnavailable``.
    """
    try:
        yield
    except (CloudConflict, CloudNotFound, CloudRefused) as error:
        raise CloudDisagrees(f"It cannot be done now: {error.message}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provided:
    plugin: Plugin
    before: Any
    """The spec that the reservation has now; None for a new one."""
    asked: Any
    """The one that it is to have."""
    afresh: bool
    after: Any
    """What was asked for, with what was made for it."""


@dataclass(slots=True, kw_only=True)
class RequestWork:
    """The work of one request. It is done once, however often the request is begun again."""

    context: Context
    compute: LesseeCompute
    enforcing: Enforcing
    """Where the operator's filters are asked about it."""
    quota: Quota
    """Where it is counted against the limits of the lease's project."""
    _seen: dict[ReservationId, tuple[Any, Any]] = field(default_factory=dict)
    _provided: dict[ReservationId, list[_Provided]] = field(default_factory=dict)

    def look_up(self, plugin: Plugin, reservation_id: ReservationId, spec: Any) -> Any:
        """Return the spec with what only the lessee can see; raises as the plugin does."""
        known = self._seen.get(reservation_id)
        if known is None or known[0] != spec:
            with telling_what_the_cloud_says():
                known = self._seen[reservation_id] = (spec, plugin.look_up(spec, self.compute))
        return known[1]

    def provide(
        self, plugin: Plugin, reservation_id: ReservationId, before: Any, spec: Any, *, afresh: bool = False
    ) -> Any:
        """Return the spec with what was made for it.

        Args:
            plugin: The plugin.
            reservation_id: The reservation.
            before: The spec that the reservation has now; None for a new one.
            spec: The one that it is to have.
            afresh: What it names may be gone.
        """
        known = self._provided.setdefault(reservation_id, [])
        if not known or (known[-1].asked, known[-1].afresh) != (spec, afresh):
            with telling_what_the_cloud_says():
                after = plugin.provide(spec, reservation_id, self.compute, afresh=afresh)
            known.append(_Provided(plugin=plugin, before=before, asked=spec, afresh=afresh, after=after))
        return known[-1].after

    @contextmanager
    def undone_on_failure(self) -> Iterator[None]:
        """Undo what was made if the request fails after all, and let the error out.

        Without an answer of the database nobody knows whether it failed: then the sweep finds out.
        """
        try:
            yield
        except Unavailable:
            raise
        except Exception:
            self._fail()
            raise

    def succeed(self, lease: Lease) -> None:
        """Undo what was made for specs that the lease does not have, or has no more."""
        final = {each.id: each for each in lease.reservations}
        for reservation_id, provided in self._provided.items():
            plugin = provided[0].plugin
            kept = plugin.decode(final[reservation_id].spec)
            for spec in (spec for each in provided for spec in (each.before, each.after)):
                if spec is not None:
                    self._withdraw(plugin, spec, kept)

    def _fail(self) -> None:
        for provided in self._provided.values():
            for each in provided:
                self._withdraw(each.plugin, each.after, each.before)

    def _withdraw(self, plugin: Plugin, spec: Any, kept: Any) -> None:
        try:
            plugin.withdraw(self.context.cloud, spec, kept)
        except CloudError as error:
            # Of a reservation that lives, the end finds it; of others, the sweep.
            _logger.warning("what was made inside of a request is left behind: %s", error)


def request_work(context: Context, caller: Caller, project_id: str | None) -> RequestWork:
    """Return the work of a request of *caller* for a lease of a project."""
    lessee = Lessee(project_id=caller.project_id or "", token=caller.token)
    compute = context.cloud.compute_for(lessee)
    return RequestWork(
        context=context,
        compute=compute if caller.project_id == project_id else _Stranger(compute),
        enforcing=Enforcing(context=context),
        quota=Quota(context=context, project_id=project_id),
    )


class _Stranger:
    """The rights of somebody who changes the lease of another project, as an operator may."""

    def __init__(self, compute: LesseeCompute) -> None:
        self._compute = compute

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        return self._compute.find_flavor(flavor_id)

    def create_server_group(self, name: str, policy: str) -> ServerGroup:
        raise CannotChange(
            "affinity: it needs another server group, and only members of the lease's project can make"
            f" one there ({name}, {policy})"
        )
