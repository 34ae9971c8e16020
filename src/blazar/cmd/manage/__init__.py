"""``blazar-manage``: what an operator does by hand, on the database and the cloud of the configuration."""

from __future__ import annotations

import sys
from typing import Any

from oslo_config import cfg

from blazar import config
from blazar.cmd.contexts import make_context
from blazar.cmd.manage import floatingips, hosts, leases, quotas, stock, sweeping, takeover
from blazar.domain.errors import BlazarError
from blazar.manager.plugins import PluginError
from blazar.ports.old_service import CannotTakeOver


def main() -> int:
    """Run one sub-command.

    Returns:
        0; 1 if it could not be done for everything that was named.
    """
    conf = config.make_conf(
        sys.argv[1:],
        "blazar-manage",
        conf=cfg.CONF,
        cli_options=[cfg.SubCommandOpt("command", title="sub-commands", handler=_add_parsers)],
    )
    config.set_up_logging(conf)
    try:
        return int(conf.command.run(make_context(conf), conf.command))
    except (PluginError, BlazarError, CannotTakeOver) as error:
        print(f"blazar-manage: {error}", file=sys.stderr)
        return 1


def _add_parsers(parsers: Any) -> None:
    for each in (hosts, floatingips, stock, leases, quotas, sweeping, takeover):
        each.add_parsers(parsers)
