"""Which programs of others a stack needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cloudlab import packages
from cloudlab.errors import LabError
from rig import postgresql

_BROKER: Final = ("rabbitmq-server",)
_DATABASES: Final[Mapping[str, tuple[str, ...]]] = {
    "mariadb": ("mariadb-server-core", "mariadb-client-core"),
    "postgresql": ("postgresql",),
}


def check(database: str) -> None:
    """Return if all programs are there.

    Raises:
        LabError: Some are not, and how they are installed.
    """
    missing = [package for package in (*_BROKER, *_DATABASES[database]) if not _is_there(package)]
    if missing:
        install = f"apt-get install --no-install-recommends {' '.join(missing)}"
        raise LabError(f"these Debian packages are missing; as root: {install}")


def _is_there(package: str) -> bool:
    if package == "postgresql":
        return postgresql.find_programs() is not None
    return Path(packages.DEBIAN[package]).exists()
