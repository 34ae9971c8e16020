"""The installation that an operator's command uses: that of ``blazar.conf``, or an embedded service."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from oslo_config import cfg

from blazar import config
from blazar.manager.plugins import PluginError
from blazar.standalone.folder import CLOUD, DATABASE, database_url, use_own_policy_files

STATE_DIR = cfg.StrOpt(
    "state-dir",
    help="Use the embedded service (blazar-standalone) with this state folder. Default configuration files "
    "are then not read.",
)


def chosen_state_dir(arguments: Sequence[str]) -> str | None:
    """Return the state folder given on a command line, in any spelling that the real parser accepts."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--state-dir")
    try:
        return parser.parse_known_args(list(arguments))[0].state_dir  # type: ignore[no-any-return]
    except argparse.ArgumentError:
        return None


def make_conf(
    arguments: Sequence[str],
    program: str,
    cli_options: Sequence[cfg.Opt] = (),
    conf: cfg.ConfigOpts | None = None,
) -> cfg.ConfigOpts:
    """Return the configuration for a command line, as :func:`blazar.config.make_conf` does.

    With ``--state-dir``, no default configuration file is read, and the defaults select the embedded service.

    Raises:
        PluginError: The folder has no embedded service.
    """
    state_dir = chosen_state_dir(arguments)
    options = [STATE_DIR, *cli_options]
    files = None if state_dir is None else ()
    conf = config.make_conf(arguments, program, config_files=files, cli_options=options, conf=conf)
    if conf.state_dir is not None:
        use_embedded(conf, conf.state_dir)
    return conf


def use_embedded(conf: cfg.ConfigOpts, state_dir: str) -> None:
    """Set the defaults of options to those of an embedded service.

    Raises:
        PluginError: The folder has no embedded service.
    """
    folder = Path(state_dir).expanduser().absolute()
    if not (folder / DATABASE).exists() and not conf.database.connection:
        raise PluginError(f"--state-dir: {folder} has no {DATABASE}: no embedded service was started with it")
    if not conf.database.connection:
        conf.set_override("connection", database_url(folder), group="database")
    conf.set_default("cloud", "simulated", group="manager")
    conf.set_default("state_file", str(folder / CLOUD), group="simulated_cloud")
    conf.set_default("read_only", True, group="simulated_cloud")
    use_own_policy_files(conf, folder)
