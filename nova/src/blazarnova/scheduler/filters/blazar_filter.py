"""The filter that nova-scheduler loads: it asks Nova's objects, and leaves the decision to ``decision``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from nova.scheduler import filters, utils
from oslo_config import cfg
from oslo_log import log as logging

from blazarnova import options
from blazarnova.scheduler.filters.decision import (
    HINT,
    Aggregate,
    Request,
    Verdict,
    closed_hosts,
    decide,
)

LOG = logging.getLogger(__name__)


class BlazarFilter(filters.BaseHostFilter):  # type: ignore[misc]
    """Keep reserved hosts for those who reserved them.

    The first row that fits decides. *Pools* are, of the aggregates the host is in, the freepool, the
    preemptible aggregate, and those whose availability zone begins with ``blazar_az_prefix`` or with
    ``blazar:``. A pool is *named* if its name is, or is in, the scheduler hint ``reservation``.
    The *reservation of the flavor* is its extra spec ``aggregate_instance_extra_specs:reservation``.
    A flavor is *preemptible* if ``allow_preemptibles`` is on and its extra spec ``blazar:preemptible``
    says so (``1 t true on y yes``, in any case).

    === ======= ============== =========== ===================================================== ======
    row hint    reservation    preemptible host                                                  result
                of the flavor
    === ======= ============== =========== ===================================================== ======
    1   given   any            any         a named pool has the project's id as a metadata key   pass
                                           with a value that is not empty (sharing)
    2   given   any            any         a named pool has the project as ``blazar_owner``      pass
    3   given   in the hint    any         any (Placement's inventory does the restricting)      pass
    4   given   none, or other any         in a named pool                                       reject
    5   given   none, or other any         in no named pool                                      reject
    6   none    any value      any         any (Placement's inventory does the restricting)      pass
    7   none    none           yes         closed, because a reservation of it begins            reject
    8   none    none           yes         in one pool only, which is ``preemptible_aggregate``  pass
    9   none    none           yes         in no pool, and
                                           ``allow_preemptibles_on_ordinary_hosts`` is on        pass
    10  none    none           yes         any other                                             reject
    11  none    none           no          in a pool                                             reject
    12  none    none           no          in no pool                                            pass
    === ======= ============== =========== ===================================================== ======

    A host is *closed* if one of its aggregates has a metadata key ``blazar:closed:`` and the host's name;
    blazar-manager sets and removes it. An empty hint is none. A hint that is neither text nor a list of
    text is given but names nothing. In rows 1 and 2 any one of the named pools is enough.
    """

    # Neither aggregates nor the request change between the instances of one request.
    run_filter_once_per_request = True

    # A rebuild stays on its host, also when the reservation is over in the meantime.
    RUN_ON_REBUILD = False

    def __init__(self) -> None:
        super().__init__()
        self._settings = options.read(cfg.CONF)

    def filter_all(self, filter_obj_list: Iterable[Any], spec_obj: Any) -> Iterable[Any]:
        """Return the hosts that may take the server, in their order; all of them for a rebuild.

        The request is read once, and not once a host as Nova's loop over ``host_passes`` would do.
        """
        if utils.request_is_rebuild(spec_obj):
            return super().filter_all(filter_obj_list, spec_obj)  # type: ignore[no-any-return]
        passes = self._judge(spec_obj)
        return [host_state for host_state in filter_obj_list if passes(host_state)]

    def host_passes(self, host_state: Any, spec_obj: Any) -> bool:
        """Return whether the host may take the server."""
        return self._judge(spec_obj)(host_state)

    def _judge(self, spec_obj: Any) -> Callable[[Any], bool]:
        """Return the function that decides whether a host passes the request."""
        flavor = spec_obj.flavor
        # Extra specs that were not sent along must not be fetched: a scheduler has no database at hand.
        extra_specs = flavor.extra_specs if flavor.obj_attr_is_set("extra_specs") else {}
        request = Request(
            project_id=spec_obj.project_id, hint=spec_obj.get_scheduler_hint(HINT), extra_specs=extra_specs
        )

        # Nova holds one object per aggregate, which all of its hosts share, and reading one is what costs.
        @cache
        def closed_by(*aggregates: Any) -> frozenset[str]:
            return closed_hosts([_read(each) for each in aggregates])

        @cache
        def verdict_on(is_closed: bool, *aggregates: Any) -> Verdict:
            return decide(request, [_read(each) for each in aggregates], self._settings, is_closed=is_closed)

        def passes(host_state: Any) -> bool:
            is_closed = host_state.host in closed_by(*host_state.aggregates)
            verdict = verdict_on(is_closed, *host_state.aggregates)
            if not verdict.passes:
                LOG.debug(
                    "BlazarFilter rejects a host: host=%s row=%d verdict=%s",
                    host_state,
                    verdict.row,
                    verdict.name,
                )
            return verdict.passes

        return passes


def _read(aggregate: Any) -> Aggregate:
    return Aggregate(
        name=aggregate.name,
        availability_zone=aggregate.availability_zone,
        metadata=aggregate.metadata,
    )
