"""PostgreSQL: a server of the rig, with its own data, run by an account that is not root."""

from __future__ import annotations

import os
import pwd
import signal
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import psycopg2

from cloudlab import files, processes
from cloudlab.commands import plain_environment, run
from cloudlab.errors import LabError
from cloudlab.plan import Plan
from cloudlab.ports import ADDRESS
from cloudlab.service import Service

ACCOUNT: Final = "postgres"
"""Account of the server if this process is root, which PostgreSQL refuses; also the first database user."""
_TIMEOUT_SECONDS: Final = 5
# Safe if the process is killed, but not if the machine crashes: no write waits for the disk.
_THROW_AWAY: Final = ("fsync=off", "full_page_writes=off")
_OPTIONS: Final = (
    "max_connections=300",
    "shared_buffers=256MB",
    "unix_socket_directories=",
    # Required to count statements.
    "shared_preload_libraries=pg_stat_statements",
    *_THROW_AWAY,
)


class Server(Service):
    """The server, whose children lead sessions of their own; their working directory is its data."""

    def kill(self) -> None:
        """Kill the server and its children as in a crash; return after they have ended."""
        super().kill()
        # The server would treat a zombie as a running process, and would not start.
        (self.folder.data(self.name) / "postmaster.pid").unlink(missing_ok=True)

    def members(self) -> tuple[processes.Process, ...]:
        """Return the server and its children, including children whose parent has ended."""
        data = str(self.folder.data(self.name))
        pids = (int(each) for each in os.listdir("/proc") if each.isdigit() and _lies_in(each, data))
        found = (processes.find(pid) for pid in pids)
        return tuple(each for each in found if each is not None)


def find_programs() -> Path | None:
    """Return the folder of the newest server's programs, or None if no server is installed."""
    versions = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    newest_first = sorted(versions, key=lambda path: float(path.parts[-3]), reverse=True)
    return newest_first[0].parent if newest_first else None


def make_data(plan: Plan) -> None:
    """Create the system tables of a new server (the first one, if there is a standby)."""
    data, password = plan.folder.data("postgresql"), plan.folder.etc("postgresql") / "password"
    files.write(password, plan.passwords["postgresql"] + "\n")
    if os.geteuid() == 0:
        account = pwd.getpwnam(ACCOUNT)
        for path in (data, password.parent, password):
            os.chown(path, account.pw_uid, account.pw_gid)
    options = ("--auth=scram-sha-256", f"--username={ACCOUNT}", f"--pwfile={password}", "--no-sync")
    locale = ("--encoding=UTF8", "--locale=C.UTF-8")
    run(
        [*as_account(), program("initdb"), f"--pgdata={data}", *options, *locale],
        log=plan.folder.log("initdb"),
        environment=plain_environment(),
    )


def service(plan: Plan, name: str = "postgresql") -> Server:
    """Return the server *name*, whose port and data have this name, too."""
    options = (f"port={plan.ports[name]}", f"listen_addresses={ADDRESS}", *_OPTIONS)
    return Server(
        name=name,
        folder=plan.folder,
        command=(
            *as_account(),
            program("postgres"),
            *("-D", str(plan.folder.data(name))),
            *(part for option in options for part in ("-c", option)),
        ),
        environment=plain_environment(),
        check=lambda since: serves(plan, name),
        # Aborts the statements of clients; after SIGTERM, the server would wait until they disconnect.
        stop_signal=signal.SIGINT,
    )


def make_anew(plan: Plan, name: str) -> None:
    """Create a database without tables; an existing one with this name is dropped."""
    execute(plan, "postgresql", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")


def database_url(plan: Plan, name: str) -> str:
    """Return the URL of a database."""
    password = plan.passwords["postgresql"]
    return f"postgresql+psycopg2://{ACCOUNT}:{password}@{plan.address('postgresql')}/{name}"


def execute(plan: Plan, server: str, *statements: str) -> list[tuple[Any, ...]]:
    """Execute statements on a server, each in its own transaction; return the rows of the last one.

    Raises:
        psycopg2.Error: The server does not respond, or refuses a statement.
    """
    with closing(_connection(plan, server)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            for each in statements:
                cursor.execute(each)
            return cursor.fetchall() if cursor.description else []


def serves(plan: Plan, server: str) -> bool:
    """Return whether a server answers queries; a standby does, too."""
    try:
        return bool(execute(plan, server, "SELECT 1"))
    except psycopg2.Error:
        return False


def _connection(plan: Plan, server: str) -> psycopg2.extensions.connection:
    return psycopg2.connect(
        host=ADDRESS,
        port=plan.ports[server],
        user=ACCOUNT,
        password=plan.passwords["postgresql"],
        dbname="postgres",
        connect_timeout=_TIMEOUT_SECONDS,
    )


def program(name: str) -> str:
    """Return the path of a program of the newest server.

    Raises:
        LabError: No server is installed.
    """
    folder = find_programs()
    if folder is None:
        raise LabError("no PostgreSQL server is installed on this machine")
    return str(folder / name)


def as_account() -> tuple[str, ...]:
    """Return the command prefix that switches to the unprivileged account if this process is root."""
    if os.geteuid() != 0:
        return ()
    return ("setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--init-groups", "--")


def _lies_in(pid: str, folder: str) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == folder
    except OSError:
        return False
