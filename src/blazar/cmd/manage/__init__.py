"""``blazar-manage``: operators' commands on the configured database and cloud."""

from __future__ import annotations

import sys
from typing import Any, Final

from oslo_config import cfg

from blazar import config
from blazar.cmd.contexts import make_context
from blazar.cmd.installation import make_conf
from blazar.cmd.manage import (
    discovery,
    importing,
    leases,
    outbox,
    plans,
    quotas,
    report,
    restoring,
    rules,
    sweeping,
    what_if,
)
from blazar.cmd.manage.type_commands import TypeCommands
from blazar.cmd.problems import run
from blazar.known_options import check_keys
from blazar.resource_types import load_parts

_COMMANDS: Final = (
    *(discovery, leases, outbox, quotas, report, rules),
    *(sweeping, restoring, plans, what_if, importing),
)


def main() -> int:
    """Run a sub-command.

    Returns:
        The exit code: 0 for success; 1 if the command failed, or failed for some of its arguments.
    """
    return run("blazar-manage", _run)


def _run() -> int:
    command = cfg.SubCommandOpt("command", title="sub-commands", handler=add_parsers)
    conf = make_conf(sys.argv[1:], "blazar-manage", [command], cfg.CONF)
    config.set_up_logging(conf)
    context = make_context(conf)
    check_keys(conf, without={"enforcement"}, plugin_groups=context.plugins)
    return int(conf.command.run(context, conf.command))


def add_parsers(parsers: Any) -> None:
    """Add all sub-commands, those of resource types first."""
    for of_type in load_parts("commands", TypeCommands):
        of_type.add_parsers(parsers)
    for each in _COMMANDS:
        each.add_parsers(parsers)
