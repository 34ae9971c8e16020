"""``blazar-status``: checks of the installation before an upgrade, and of the cloud."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from oslo_config import cfg
from oslo_policy import opts as policy_options
from oslo_upgradecheck import upgradecheck

from blazar.booking.context import Context
from blazar.cmd.cloud_checks import CloudChecks
from blazar.cmd.contexts import impatient_engine, make_context
from blazar.cmd.installation import make_conf
from blazar.cmd.leftover_check import check_leftovers
from blazar.cmd.nova_conf import read_nova_conf
from blazar.cmd.problems import run, sentence
from blazar.db.clock import SqlClock
from blazar.db.drivers import is_mariadb
from blazar.db.engine import make_engine
from blazar.db.guard import HOW_TO_INSTALL, missing_triggers
from blazar.db.revisions import current_revision, head_revision, oldest_usable_revision
from blazar.db.server_versions import ServerTooOld, check_server
from blazar.domain.quotas import is_known
from blazar.domain.wording import first_few
from blazar.known_options import keys_without_effect, unknown_keys
from blazar.manager.plugins import load_filters, load_usage_rules
from blazar.planning.nova import NovaConf
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.plugins.networks.check import find_problems
from blazar.plugins.volumes.pools import STORAGE_POOLS, find_open_types
from blazar.plugins.volumes.retaining import find_target_problem
from blazar.plugins.volumes.settings import VolumeSettings

_SHOWN = 10
"""Maximum number of cases named in one message."""

Code = upgradecheck.Code
Result = upgradecheck.Result


def _success(text: str) -> Result:
    return Result(upgradecheck.Code.SUCCESS, text)


def _warning(text: str) -> Result:
    return Result(upgradecheck.Code.WARNING, text)


def _failure(text: str) -> Result:
    return Result(upgradecheck.Code.FAILURE, text)


class Checks(upgradecheck.UpgradeCommands):
    """The checks; each returns success, warning or failure with a message."""

    def _check_database_server(self) -> Result:
        try:
            return check_database_server(impatient_engine(cfg.CONF))
        except Exception as error:
            return _warning(f"Not checked: {sentence(error)}")

    def _check_schema(self) -> Result:
        conf = cfg.CONF
        if not conf.database.connection:
            return _failure("[database] connection is not set")
        try:
            engine, head = impatient_engine(conf), head_revision()
            current, oldest = current_revision(engine), oldest_usable_revision(engine)
        except Exception as error:
            return _failure(sentence(error))
        if current == oldest == head:
            return _success(f"The schema is at {head}")
        if current == head:
            return _warning(
                f"The schema is at {head}, and processes of the previous release can still use it: run "
                "blazar-db-manage contract when none of them runs"
            )
        if head == oldest:
            return _warning(f"The schema is at {current}, that of the next release: upgrade the processes")
        return _failure(f"The schema is at {current}, not at {head}: run blazar-db-manage upgrade head")

    def _check_guard(self) -> Result:
        try:
            engine = make_engine(cfg.CONF.database.connection or "sqlite://", max_retries=0)
            return check_guard(engine)
        except Exception as error:
            return _warning(f"Not checked: {sentence(error)}")

    def _check_policy_file(self) -> Result:
        name = cfg.CONF.oslo_policy.policy_file
        path = cfg.CONF.find_file(name) or name
        if Path(path).suffix == ".json":
            return _failure("The policy file is JSON: convert it with oslopolicy-convert-json-to-yaml")
        return Result(upgradecheck.Code.SUCCESS)

    def _check_configuration(self) -> Result:
        """Return a failure if a manager could not load its cloud, plugins, usage rules or filters."""
        try:
            rules = load_usage_rules(cfg.CONF, _context().plugins)
            filters = load_filters(cfg.CONF)
        except Exception as error:
            return _failure(sentence(error))
        return _success(f"Usage rules: {len(rules.all)}; enforcement filters: {', '.join(filters) or 'none'}")

    def _check_options(self) -> Result:
        """Return a failure for unknown keys that prevent a start, a warning for keys without effect."""
        # Loading plugins and filters registers their options.
        try:
            plugins = tuple(_context().plugins)
            load_filters(cfg.CONF)
        except Exception:
            plugins = ()
        unknown = unknown_keys(cfg.CONF, plugin_groups=plugins)
        if unknown:
            return _failure("; ".join(unknown))
        idle = keys_without_effect(cfg.CONF)
        return _warning(f"Without effect: {', '.join(map(str, idle))}") if idle else _success("All are valid")

    def _check_quotas(self) -> Result:
        return _looked_at(check_quotas)

    def _check_promises(self) -> Result:
        return _looked_at(find_double_promises)

    def _check_freepool(self) -> Result:
        return _looked_at(check_freepool)

    def _check_networks(self) -> Result:
        return _looked_at(check_networks)

    def _check_storage_pools(self) -> Result:
        return _looked_at(check_storage_pools)

    def _check_leftovers(self) -> Result:
        return _looked_at(check_leftovers)

    _upgrade_checks = (
        ("Database server", _check_database_server),
        ("Schema", _check_schema),
        ("Guard", _check_guard),
        ("Policy file", _check_policy_file),
        ("Configuration", _check_configuration),
        ("Options", _check_options),
        ("Quotas", _check_quotas),
        ("Promises", _check_promises),
        ("Freepool", _check_freepool),
        ("Network segments", _check_networks),
        ("Storage pools", _check_storage_pools),
        ("Leftovers", _check_leftovers),
    )


def check_database_server(engine: sa.Engine) -> Result:
    """Return a failure if the database server is older than the service needs."""
    try:
        server = check_server(engine)
    except ServerTooOld as error:
        return _failure(str(error))
    return Result(upgradecheck.Code.SUCCESS) if server is None else _success(str(server))


def check_guard(engine: sa.Engine) -> Result:
    """Return a warning if MariaDB lacks the triggers that refuse overlapping allocations."""
    with engine.connect() as connection:
        if not is_mariadb(connection.dialect):
            return Result(upgradecheck.Code.SUCCESS)
        missing = missing_triggers(connection)
    if not missing:
        return _success("The database refuses overlapping allocations")
    return _warning(f"The triggers {', '.join(missing)} are missing: {HOW_TO_INSTALL}")


def check_quotas(context: Context) -> Result:
    """Return a warning if limits are enabled, but Keystone has none, or some with unknown names."""
    if context.limits is None:
        return _success("Limits of projects are disabled")
    limits = context.limits.get_defaults()
    unknown = sorted(each for each in limits if not is_known(each, context.quota_units))
    if unknown:
        return _warning(f"Keystone has limits with unknown names, which have no effect: {', '.join(unknown)}")
    if not limits:
        return _warning("Limits are enabled, but Keystone has no registered limit for this service")
    return _success(f"Limits: {', '.join(sorted(limits))}")


def find_double_promises(context: Context) -> Result:
    """Return a failure if a resource is reserved twice, for example by an import or a manual change."""
    with context.store.read() as transaction:
        found = transaction.allocations.list_overlaps(_SHOWN)
    if not found:
        return _success("No resource is reserved twice")
    cases = "; ".join(f"resource {key}: leases {one} and {other}" for key, one, other in found)
    return _failure(f"Reserved twice: {cases}")


def check_freepool(context: Context) -> Result:
    """Return a failure if Nova has no freepool but hosts are registered; a warning if no host is."""
    name = context.settings.of(HostSettings).freepool_name
    if any(each.name == name for each in context.cloud.aggregates.list_aggregates()):
        return _success(f"Nova has the aggregate {name}")
    with context.store.read() as transaction:
        has_hosts = bool(transaction.of(HOST_STORE).list())
    text = f"Nova has no aggregate named {name} (the freepool): no host can be registered or released"
    return _failure(text) if has_hosts else _warning(text)


def check_networks(context: Context) -> Result:
    """Return a warning if others have or may get registered network segments that Neutron shows."""
    found = find_problems(context)
    if not found:
        return _success("No network segment is registered")
    problems = [f"{each.name}: {problem}" for each, problem in found if problem]
    if problems:
        return _warning(
            f'Network segments that cannot be reserved: {first_few(problems, _SHOWN)}; see "Register network'
            ' segments" in the guide for operators'
        )
    if context.cloud.segments.list_ranges() is None:
        return _warning(
            "Neutron does not report network segment ranges: make sure that network_vlan_ranges and"
            " vni_ranges in ml2_conf.ini contain no registered network segment"
        )
    return _success("Only reservations can get the registered network segments")


def check_storage_pools(context: Context) -> Result:
    """Return a warning if Cinder may put volumes of public types into registered pools.

    If that is true of the type to which volumes are moved at the end, it is a failure: they would stay.
    """
    with context.store.read() as transaction:
        registered = transaction.plugin_resources.list(STORAGE_POOLS.name)
    if not registered:
        return _success("No storage pool is registered")
    types = context.cloud.block_storage.list_types()
    if problem := find_target_problem(types, registered, context.settings.of(VolumeSettings)):
        return _failure(problem)
    found = [each for each in find_open_types(types, registered) if each.is_public]
    if not found:
        return _success("No public volume type may use a registered storage pool")
    names = first_few(sorted(each.name for each in found), _SHOWN)
    return _warning(
        f"Public volume types may use registered storage pools: {names}; pin them to other back ends with"
        " openstack volume type set --property volume_backend_name=…"
    )


def _reference_clock() -> SqlClock | None:
    engine = impatient_engine(cfg.CONF)
    return None if engine.dialect.name == "sqlite" else SqlClock(engine)


def check_cloud() -> Code:
    """Print the results of the checks of the cloud; return the worst one."""
    return CloudChecks(_context, nova_conf=_nova_conf(), reference=_reference_clock).check()


@functools.cache
def _nova_conf() -> NovaConf | None:
    """Return the configuration that the command line names. Raises InvalidParameter."""
    name = cfg.CONF.command.nova_conf
    return None if name is None else read_nova_conf(name)


@functools.cache
def _context() -> Context:
    """Return the context of the checks, which is created once. Raises as :func:`make_context`."""
    return make_context(cfg.CONF)


def _looked_at(check: Callable[[Context], Result]) -> Result:
    try:
        return check(_context())
    except Exception as error:
        return _warning(f"Not checked: {sentence(error)}")


def main() -> int:
    """Run the checks; return 0 for success, 1 for a warning, 2 for a failure, 255 for an error."""
    command = cfg.SubCommandOpt("command", title="sub-commands", handler=add_parsers)
    cfg.CONF.register_cli_opt(command)
    # Where the library looks for --json.
    upgradecheck.CONF = cfg.CONF
    policy_options.set_defaults(cfg.CONF)
    return run("blazar-status", _check, failure=255)


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands ``upgrade check`` and ``check cloud``."""
    for name, verb, check, text in (
        ("upgrade", "check", Checks().check, "check that this release can run on the present installation"),
        ("check", "cloud", check_cloud, "check that the cloud is as reservations of hosts need it"),
    ):
        parser = parsers.add_parser(name, help=f"{name} {verb}: {text}", description=text)
        parser.add_argument("what", choices=(verb,), metavar=verb)
        parser.add_argument("--json", action="store_true", help="print the results as JSON")
        parser.set_defaults(action_fn=check, nova_conf=None)
        if name == "check":
            parser.add_argument(
                "--nova-conf", metavar="FILE", help="nova.conf of a nova-scheduler, to check it as well"
            )


def _check() -> int:
    conf = make_conf(sys.argv[1:], "blazar-status", conf=cfg.CONF)
    _nova_conf()  # raises if the file cannot be read
    return int(upgradecheck.run(conf))


if __name__ == "__main__":
    sys.exit(main())
