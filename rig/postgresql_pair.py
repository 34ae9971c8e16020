"""PostgreSQL with a hot standby: a commit waits until both servers have it, and either can be the primary."""

from __future__ import annotations

import os
import pwd
import shutil
from typing import Final

import psycopg2

from cloudlab.commands import plain_environment, run
from cloudlab.errors import LabError
from cloudlab.plan import Plan
from cloudlab.ports import ADDRESS
from cloudlab.waiting import wait_until
from rig import postgresql
from rig.postgresql import ACCOUNT, Server

NAMES: Final = ("postgresql", "postgresql-2")
"""Names of the servers, and of their ports; the first one is the primary at first."""
_SECONDS_TO_FOLLOW: Final = 60


def services(plan: Plan) -> tuple[Server, ...]:
    """Return the servers."""
    return tuple(postgresql.service(plan, name) for name in NAMES)


def database_url(plan: Plan, name: str) -> str:
    """Return the URL of a database on whichever server is the primary."""
    hosts = "&".join(f"host={plan.address(each)}" for each in NAMES)
    account = f"{ACCOUNT}:{plan.passwords['postgresql']}"
    options = "target_session_attrs=read-write&connect_timeout=3"
    return f"postgresql+psycopg2://{account}@/{name}?{hosts}&{options}"


def primary(plan: Plan) -> str:
    """Return the name of the primary. Raises LabError if there is none."""
    for name in NAMES:
        try:
            if postgresql.execute(plan, name, "SELECT pg_is_in_recovery()") == [(False,)]:
                return name
        except psycopg2.Error:
            continue
    raise LabError("no server of PostgreSQL accepts writes")


def add_standby(plan: Plan, server: Server, source: str) -> None:
    """Copy the primary *source* to a server that does not run, and start it as the standby.

    Return when it follows; from then on, a commit is confirmed after both servers have it.
    """
    data = plan.folder.data(server.name)
    shutil.rmtree(data)
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        account = pwd.getpwnam(ACCOUNT)
        os.chown(data, account.pw_uid, account.pw_gid)
    run(
        [
            *postgresql.as_account(),
            postgresql.program("pg_basebackup"),
            *("--host", ADDRESS, "--port", str(plan.ports[source]), "--username", ACCOUNT),
            *("--pgdata", str(data), "--write-recovery-conf", "--checkpoint=fast", "--no-sync"),
        ],
        log=plan.folder.log("pg_basebackup"),
        environment=plain_environment(PGPASSWORD=plan.passwords["postgresql"]),
    )
    server.start()
    server.wait_until_answers()

    def follows() -> bool:
        rows = postgresql.execute(plan, source, "SELECT state FROM pg_stat_replication")
        return ("streaming",) in rows

    wait_until(follows, f"{server.name} follows {source}", seconds=_SECONDS_TO_FOLLOW)
    _wait_for_standby(plan, source, "'*'")


def promote(plan: Plan, name: str) -> None:
    """Make the standby the primary, whose commits wait for no other server until it has a standby."""
    postgresql.execute(plan, name, "SELECT pg_promote()")
    _wait_for_standby(plan, name, "''")


def _wait_for_standby(plan: Plan, name: str, standbys: str) -> None:
    statement = f"ALTER SYSTEM SET synchronous_standby_names = {standbys}"
    postgresql.execute(plan, name, statement, "SELECT pg_reload_conf()")
