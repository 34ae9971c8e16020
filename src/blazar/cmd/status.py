"""``blazar-status upgrade check``: whether this release can be started on what is there."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

from oslo_config import cfg
from oslo_policy import opts as policy_options
from oslo_upgradecheck import upgradecheck

from blazar import config
from blazar.booking.context import Context
from blazar.cmd.contexts import make_context
from blazar.db.engine import make_engine
from blazar.db.schema import current_revision, head_revision
from blazar.domain.errors import BlazarError
from blazar.domain.quotas import is_known
from blazar.manager.plugins import PluginError, load_filters
from blazar.reconcile.sweep import find_leftovers

_SHOWN = 10
"""So many cases of one kind are named."""

Result = upgradecheck.Result


def _success(text: str) -> Result:
    return Result(upgradecheck.Code.SUCCESS, text)


def _warning(text: str) -> Result:
    return Result(upgradecheck.Code.WARNING, text)


def _failure(text: str) -> Result:
    return Result(upgradecheck.Code.FAILURE, text)


class Checks(upgradecheck.UpgradeCommands):
    """The checks; each returns success, warning or failure with a sentence."""

    def _check_schema(self) -> Result:
        conf = cfg.CONF
        if not conf.database.connection:
            return _failure("[database] connection is not set")
        engine = make_engine(conf.database.connection, max_retries=1, retry_interval=1)
        current, head = current_revision(engine), head_revision()
        if current == head:
            return _success(f"The schema is at {head}")
        return _failure(f"The schema is at {current}, not at {head}: run blazar-db-manage upgrade head")

    def _check_policy_file(self) -> Result:
        name = cfg.CONF.oslo_policy.policy_file
        path = cfg.CONF.find_file(name) or name
        if Path(path).suffix == ".json":
            return _failure("The policy file is JSON: convert it with oslopolicy-convert-json-to-yaml")
        return Result(upgradecheck.Code.SUCCESS)

    def _check_configuration(self) -> Result:
        """Return whether a manager would start: its cloud, its plugins, its filters."""
        try:
            _context()
            filters = load_filters(cfg.CONF)
        except (PluginError, BlazarError) as error:
            return _failure(str(error))
        return _success(f"Filters of usage: {', '.join(filters) or 'none'}")

    def _check_quotas(self) -> Result:
        return _looked_at(check_quotas)

    def _check_promises(self) -> Result:
        return _looked_at(find_double_promises)

    def _check_freepool(self) -> Result:
        return _looked_at(check_freepool)

    def _check_leftovers(self) -> Result:
        return _looked_at(check_leftovers)

    _upgrade_checks = (
        ("Schema", _check_schema),
        ("Policy file", _check_policy_file),
        ("Configuration", _check_configuration),
        ("Quotas", _check_quotas),
        ("Promises", _check_promises),
        ("Freepool", _check_freepool),
        ("Leftovers", _check_leftovers),
    )


def check_quotas(context: Context) -> Result:
    """Return a warning if projects are to be kept within limits, and there are none, or meaningless ones."""
    if context.limits is None:
        return _success("Projects are not limited")
    limits = context.limits.get_defaults()
    unknown = sorted(each for each in limits if not is_known(each, context.plugins))
    if unknown:
        return _warning(f"Nothing is counted as {', '.join(unknown)}, of which Keystone has limits")
    if not limits:
        return _warning("Projects are to be limited, but Keystone has no registered limit of this service")
    return _success(f"Limits: {', '.join(sorted(limits))}")


def find_double_promises(context: Context) -> Result:
    """Return a failure if a resource is promised twice, as an import, or a hand in the database, may do."""
    with context.store.read() as transaction:
        found = transaction.allocations.list_overlaps(_SHOWN)
    if not found:
        return _success("No resource is promised twice")
    cases = "; ".join(f"resource {key}: leases {one} and {other}" for key, one, other in found)
    return _failure(f"Promised twice: {cases}")


def check_freepool(context: Context) -> Result:
    """Return a failure if there is no freepool, though hosts are registered."""
    name = context.settings.hosts.freepool_name
    if any(each.name == name for each in context.cloud.compute.list_aggregates()):
        return _success(f"Nova has the aggregate {name}")
    with context.store.read() as transaction:
        has_hosts = bool(transaction.hosts.list())
    text = f"Nova has no aggregate named {name} (the freepool): no host can be registered or given back"
    return _failure(text) if has_hosts else _warning(text)


def check_leftovers(context: Context) -> Result:
    """Return a warning if something in the cloud belongs to no living reservation."""
    found = find_leftovers(context)
    if not found:
        return _success("Nothing is left over in the cloud")
    return _warning(
        f"Left over in the cloud: {', '.join(found[:_SHOWN])}"
        + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
        + "; managers remove it, blazar-manage sweep --dry-run lists it"
    )


@functools.cache
def _context() -> Context:
    """Return what the checks look at, made once. Raises as :func:`make_context`."""
    return make_context(cfg.CONF)


def _looked_at(check: Callable[[Context], Result]) -> Result:
    try:
        return check(_context())
    except (PluginError, BlazarError) as error:
        return _warning(f"Not checked: {error}")


def main() -> int:
    """Run the checks; return 0 for success, 1 for a warning, 2 for a failure, 255 for an error."""
    config.register(cfg.CONF)
    policy_options.set_defaults(cfg.CONF)
    return int(upgradecheck.main(cfg.CONF, project=config.PROJECT, upgrade_command=Checks()))


if __name__ == "__main__":
    sys.exit(main())
