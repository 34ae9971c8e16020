"""``blazar-status upgrade check``: whether this release can be started on what is there."""

from __future__ import annotations

import sys
from pathlib import Path

from oslo_config import cfg
from oslo_policy import opts as policy_options
from oslo_upgradecheck import upgradecheck

from blazar import config
from blazar.db.engine import make_engine
from blazar.db.schema import current_revision, head_revision


class Checks(upgradecheck.UpgradeCommands):
    """The checks; each returns success, warning or failure with a sentence."""

    def _check_schema(self) -> upgradecheck.Result:
        conf = cfg.CONF
        if not conf.database.connection:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, "[database] connection is not set")
        engine = make_engine(conf.database.connection, max_retries=1, retry_interval=1)
        current, head = current_revision(engine), head_revision()
        if current == head:
            return upgradecheck.Result(upgradecheck.Code.SUCCESS, f"The schema is at {head}")
        return upgradecheck.Result(
            upgradecheck.Code.FAILURE,
            f"The schema is at {current}, not at {head}: run blazar-db-manage upgrade head",
        )

    def _check_policy_file(self) -> upgradecheck.Result:
        name = cfg.CONF.oslo_policy.policy_file
        path = cfg.CONF.find_file(name) or name
        if Path(path).suffix == ".json":
            return upgradecheck.Result(
                upgradecheck.Code.FAILURE,
                "The policy file is JSON: convert it with oslopolicy-convert-json-to-yaml",
            )
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    _upgrade_checks = (("Schema", _check_schema), ("Policy file", _check_policy_file))


def main() -> int:
    """Run the checks; return 0 for success, 1 for a warning, 2 for a failure, 255 for an error."""
    config.register(cfg.CONF)
    policy_options.set_defaults(cfg.CONF)
    return int(upgradecheck.main(cfg.CONF, project=config.PROJECT, upgrade_command=Checks()))


if __name__ == "__main__":
    sys.exit(main())
