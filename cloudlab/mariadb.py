"""MariaDB: a server of the lab's own, with its own data."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from cloudlab import files, probes
from cloudlab.commands import plain_environment, run
from cloudlab.errors import LabError
from cloudlab.plan import Plan
from cloudlab.ports import ADDRESS
from cloudlab.service import Service

# Safe when the process is killed, and not when the machine is: nothing waits for the disk.
_THROW_AWAY: Final = (
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-flush-method=nosync",
    "--innodb-doublewrite=0",
    "--skip-log-bin",
    "--performance-schema=OFF",
)
_ATTEMPTS: Final = 3
"""MariaDB 10.11.19 crashes now and then while it creates its system tables."""


def configure(plan: Plan) -> None:
    """Write what the server does at each start: one account is there, and root has a password."""
    password = plan.passwords["mariadb"]
    statements = [
        f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}'",
        f"CREATE USER IF NOT EXISTS 'cloudlab'@'{ADDRESS}' IDENTIFIED BY '{password}'",
        f"GRANT ALL ON *.* TO 'cloudlab'@'{ADDRESS}' WITH GRANT OPTION",
    ]
    files.write(init_sql(plan), "".join(f"{each};\n" for each in statements))


def make_data(plan: Plan, name: str = "mariadb") -> bool:
    """Create the system tables of the new server *name*; return False if they exist."""
    folder = plan.folder.data(name)
    if (folder / "mysql").exists():
        return False
    new = folder.with_name(f"{name}.new")
    for left in reversed(range(_ATTEMPTS)):
        shutil.rmtree(new, ignore_errors=True)
        try:
            _install(plan, name, new)
        except LabError:
            if not left:
                raise
        else:
            break
    folder.rmdir()
    new.rename(folder)
    return True


def _install(plan: Plan, name: str, folder: Path) -> None:
    run(
        [
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={folder}",
            f"--tmpdir={temporary(plan, name)}",
            "--auth-root-authentication-method=normal",
            "--skip-name-resolve",
            "--skip-test-db",
            *_user(),
            *_THROW_AWAY,
        ],
        log=plan.folder.log("mariadb-install"),
        environment=plain_environment(),
    )


def services(plan: Plan) -> tuple[Service, ...]:
    """Return the server."""
    return (
        Service(
            name="mariadb",
            folder=plan.folder,
            command=(*command(plan, "mariadb"), *_user(), init_file(plan)),
            environment=plain_environment(),
            check=lambda since: probes.serves_sql(plan),
        ),
    )


def command(plan: Plan, name: str) -> tuple[str, ...]:
    """Return the command of the server *name*, to be run by its account: port and data have this name too."""
    return (
        "mariadbd",
        "--no-defaults",
        f"--datadir={plan.folder.data(name)}",
        f"--tmpdir={temporary(plan, name)}",
        # Below the data folder: the path of a socket may have 107 bytes, and folders lie deep.
        "--socket=mariadb.sock",
        "--pid-file=mariadb.pid",
        f"--bind-address={ADDRESS}",
        f"--port={plan.ports[name]}",
        "--skip-name-resolve",
        "--max-connections=1000",
        "--innodb-buffer-pool-size=256M",
        *_THROW_AWAY,
    )


def temporary(plan: Plan, name: str) -> Path:
    """Return the folder of the temporary tables of the server *name*.

    A server that starts deletes all temporary tables in this folder, and so crashes another one that uses it.
    """
    return plan.folder.data(f"{name}-temporary")


def init_file(plan: Plan) -> str:
    """Return the option that makes a server execute what :func:`configure` wrote."""
    return f"--init-file={init_sql(plan)}"


def init_sql(plan: Plan) -> Path:
    """Return the file that :func:`configure` writes."""
    return plan.folder.etc("mariadb") / "init.sql"


def _user() -> tuple[str, ...]:
    """Return the option without which the server refuses to run as root."""
    return ("--user=root",) if os.geteuid() == 0 else ()
