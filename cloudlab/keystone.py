"""Keystone."""

from __future__ import annotations

import base64
import os

from cloudlab import files, sections, sql
from cloudlab.commands import plain_environment, run
from cloudlab.plan import REGION, Plan
from cloudlab.service import Service
from cloudlab.wsgi import in_module, wsgi_service


def configure(plan: Plan) -> None:
    """Write the configuration, and keys if they do not exist."""
    data = plan.folder.data("keystone")
    files.write_ini(
        plan.folder.etc("keystone") / "keystone.conf",
        {
            "DEFAULT": {**sections.LOGGING, "public_endpoint": plan.url("keystone")},
            **sections.database(plan, "keystone"),
            "cache": {"enabled": True, "backend": "oslo_cache.dict"},
            # The minimum number of rounds: these passwords protect nothing.
            "identity": {"password_hash_rounds": 4},
            "token": {"provider": "fernet", "expiration": 86400},
            "fernet_tokens": {"key_repository": str(data / "fernet-keys")},
            "fernet_receipts": {"key_repository": str(data / "fernet-keys")},
            "credential": {"key_repository": str(data / "credential-keys")},
            "oslo_messaging_notifications": {"driver": "noop"},
        },
    )
    for repository in ("fernet-keys", "credential-keys"):
        # A staged and a primary key, as created by `keystone-manage fernet_setup`, which takes three seconds.
        for index in ("0", "1"):
            path = data / repository / index
            if not path.exists():
                files.write(path, base64.urlsafe_b64encode(os.urandom(32)).decode())
        (data / repository).chmod(0o700)


def make_schema(plan: Plan, *, is_new: bool) -> None:
    """Upgrade the database, and create the first account, the roles and Keystone's own endpoints."""
    if is_new:
        sql.make_anew(plan, "keystone")
    manage = [
        plan.folder.program("keystone-manage"),
        "--config-file",
        str(plan.folder.etc("keystone") / "keystone.conf"),
    ]
    log = plan.folder.log("keystone-manage")
    run([*manage, "db_sync"], log=log, environment=plain_environment())
    run(
        [
            *manage,
            "bootstrap",
            *("--bootstrap-region-id", REGION),
            *("--bootstrap-public-url", plan.auth_url),
            *("--bootstrap-internal-url", plan.auth_url),
            *("--bootstrap-admin-url", plan.auth_url),
        ],
        log=log,
        environment=plain_environment(OS_BOOTSTRAP_PASSWORD=plan.passwords["admin"]),
    )


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the API."""
    environment = {"OS_KEYSTONE_CONFIG_DIR": str(plan.folder.etc("keystone"))}
    return (wsgi_service(plan, "keystone", in_module("keystone.wsgi.api"), environment),)
