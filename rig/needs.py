"""Which programs of others a stack needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cloudlab import packages
from cloudlab.errors import LabError
from rig import postgresql, web_server

_BROKER: Final = ("rabbitmq-server",)
_WEB_SERVER: Final = ("nginx",)
_DATABASES: Final[Mapping[str, tuple[str, ...]]] = {
    "mariadb": ("mariadb-server-core", "mariadb-client-core"),
    "postgresql": ("postgresql",),
}


def check(database: str, *, has_web_server: bool = False) -> None:
    """Return if all programs are there.

    Args:
        database: Which one there is to be.
        has_web_server: Whether there is to be one.

    Raises:
        LabError: Some are not, and how they are installed.
    """
    needed = (*_BROKER, *_DATABASES[database], *(_WEB_SERVER if has_web_server else ()))
    missing = [package for package in needed if not _is_there(package)]
    if missing:
        install = f"apt-get install --no-install-recommends {' '.join(missing)}"
        raise LabError(f"these Debian packages are missing; as root: {install}")


def _is_there(package: str) -> bool:
    if package == "postgresql":
        return postgresql.find_programs() is not None
    if package == "nginx":
        return Path(web_server.PROGRAM).exists()
    return Path(packages.DEBIAN[package]).exists()
