"""The filter that nova-scheduler loads: it asks Nova's objects, and leaves the decision to ``decision``."""

from __future__ import annotations

from typing import Any

from nova.scheduler import filters
from oslo_config import cfg
from oslo_log import log as logging

from blazarnova import options
from blazarnova.scheduler.filters.decision import HINT, Aggregate, Request, decide

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
    7   none    none           yes         in one pool only, which is ``preemptible_aggregate``  pass
    8   none    none           yes         in no pool, and
                                           ``allow_preemptibles_on_ordinary_hosts`` is on        pass
    9   none    none           yes         any other                                             reject
    10  none    none           no          in a pool                                             reject
    11  none    none           no          in no pool                                            pass
    === ======= ============== =========== ===================================================== ======

    An empty hint is none. A hint that is neither text nor a list of text is given but names nothing.
    In rows 1 and 2 any one of the named pools is enough.
    """

    # Neither aggregates nor the request change between the instances of one request.
    run_filter_once_per_request = True

    # A rebuild stays on its host, also when the reservation is over in the meantime.
    RUN_ON_REBUILD = False

    def __init__(self) -> None:
        super().__init__()
        self._settings = options.read(cfg.CONF)

    def host_passes(self, host_state: Any, spec_obj: Any) -> bool:
        """Return whether the host may take the server."""
        flavor = spec_obj.flavor
        # Extra specs that were not sent along must not be fetched: a scheduler has no database at hand.
        extra_specs = flavor.extra_specs if flavor.obj_attr_is_set("extra_specs") else None
        request = Request(
            project_id=spec_obj.project_id,
            hint=spec_obj.get_scheduler_hint(HINT),
            extra_specs=extra_specs or {},
        )
        aggregates = [
            Aggregate(name=each.name, availability_zone=each.availability_zone, metadata=each.metadata)
            for each in host_state.aggregates
        ]
        verdict = decide(request, aggregates, self._settings)
        if not verdict.passes:
            LOG.debug(
                "BlazarFilter rejects %(host)s by row %(row)d: %(verdict)s",
                {"host": host_state, "row": verdict.row, "verdict": verdict.name},
            )
        return verdict.passes
