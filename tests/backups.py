"""Backups of databases, with the commands of the guide."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from needed import give_up

GUIDE: Final = Path(__file__).resolve().parents[1] / "doc" / "operators" / "backup.md"
_PROGRAMS: Final = {"mariadb": ("mariadb-dump", "mariadb"), "postgresql": ("pg_dump", "psql")}


def commands_of_the_guide(kind: str) -> tuple[str, str]:
    """Return the commands that back up and restore the database ``blazar``."""
    lines = re.findall(r"^ *(?:mariadb|pg_|psql).*$", GUIDE.read_text(), re.MULTILINE)
    dump, restore = (
        next(line for line in lines if shlex.split(line)[0] == program) for program in _PROGRAMS[kind]
    )
    return dump, restore


class Backups:
    """Backs up one database to a file, and restores it."""

    def __init__(self, kind: str, engine: sa.Engine, folder: Path) -> None:
        for program in _PROGRAMS[kind]:
            if shutil.which(program) is None:
                give_up(f"{program} is not installed")
        self._engine = engine
        self._folder = folder
        self._dump, self._restore = (self._here(kind, each) for each in commands_of_the_guide(kind))

    def make(self) -> None:
        """Back up the database."""
        self._run(self._dump)

    def restore(self) -> None:
        """Restore the database, as with all programs of the service stopped."""
        self._engine.dispose()
        self._run(self._restore)

    def _here(self, kind: str, command: str) -> str:
        """Return a command with the connection and the name of this database."""
        url = self._engine.url
        program, *_ = shlex.split(command)
        default = {"mariadb": 3306, "postgresql": 5432}[kind]
        account = {"mariadb": "--protocol=tcp --user", "postgresql": "--username"}[kind]
        connection = f"{program} --host={url.host} --port={url.port or default} {account}={url.username}"
        # The name of the database, and not that of its file.
        return re.sub(r"\bblazar\b(?!\.sql)", str(url.database), command).replace(program, connection, 1)

    def _run(self, command: str) -> None:
        password = self._engine.url.password or ""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self._folder,
            env={**os.environ, "MYSQL_PWD": password, "PGPASSWORD": password},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
