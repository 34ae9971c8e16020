"""Third-party programs that an installation needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cloudlab import packages
from cloudlab.errors import LabError
from rig import galera, postgresql, web_server

_BROKER: Final = ("rabbitmq-server",)
_WEB_SERVER: Final = ("nginx",)
_DATABASES: Final[Mapping[str, tuple[str, ...]]] = {
    "mariadb": ("mariadb-server-core", "mariadb-client-core"),
    "postgresql": ("postgresql",),
    "galera": ("mariadb-server-core", "mariadb-server", "mariadb-client-core", "galera-4", "rsync"),
}


def check(database: str, *, has_web_server: bool = False) -> None:
    """Check that all programs are installed.

    Args:
        database: The database of the installation.
        has_web_server: Whether the installation has a web server.

    Raises:
        LabError: Programs are missing; the message has the command that installs them.
    """
    needed = (*_BROKER, *_DATABASES[database], *(_WEB_SERVER if has_web_server else ()))
    missing = [package for package in needed if not _is_there(package)]
    if missing:
        install = f"apt-get install --no-install-recommends {' '.join(missing)}"
        raise LabError(f"these Debian packages are missing; as root: {install}")


def _is_there(package: str) -> bool:
    if package == "postgresql":
        return postgresql.find_programs() is not None
    return Path({**packages.DEBIAN, **galera.DEBIAN, "nginx": web_server.PROGRAM}[package]).exists()
