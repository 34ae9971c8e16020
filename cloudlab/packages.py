"""Installation of Debian packages, and of OpenStack into the lab's own virtual environment."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from cloudlab import files
from cloudlab.commands import run
from cloudlab.errors import LabError
from cloudlab.folder import REPOSITORY, Folder

_MARK: Final = ".installed"
LOCK: Final = Path(__file__).with_name("constraints.txt")

DEBIAN: Final = {
    "mariadb-server-core": "/usr/sbin/mariadbd",
    "mariadb-client-core": "/usr/bin/my_print_defaults",
    "rabbitmq-server": "/usr/lib/rabbitmq/bin/rabbitmq-server",
}
"""Debian packages, each with a program that only it has."""


def install_debian_packages(
    folder: Folder, wanted: Mapping[str, str] = DEBIAN, become_root: Sequence[str] | None = None
) -> str | None:
    """Install the Debian packages that are missing; return which, or None if all were there.

    Args:
        folder: The folder of the log.
        wanted: Packages, each with a program that only it has.
        become_root: Prefix of commands that need root; if this is None, sudo, or nothing for root.

    Raises:
        LabError: This account may not install packages, or the installation failed.
    """
    missing = [package for package, program in wanted.items() if not Path(program).exists()]
    if not missing:
        return None
    if become_root is None:
        become_root = () if os.geteuid() == 0 else ("sudo", "--non-interactive")
    apt = [*become_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    install = ["install", "--yes", "--no-install-recommends", *missing]
    log = folder.log("apt-get")
    try:
        run([*apt, "--version"], log=log)
    except (LabError, FileNotFoundError):
        message = f"these Debian packages are missing; as root: apt-get {' '.join(install)}"
        raise LabError(message) from None
    run([*apt, "update"], log=log, ends_with_us=False)
    run([*apt, *install], log=log, ends_with_us=False)
    return f"installed {', '.join(missing)}"


def fingerprint() -> str:
    """Return a key for the inputs of the environment."""
    return hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()


def are_installed(folder: Folder) -> bool:
    """Return whether the environment is up to date."""
    mark = folder.environment / _MARK
    return mark.exists() and mark.read_text() == fingerprint()


def share_environment(owner: Folder, folder: Folder) -> None:
    """Let the lab in *folder* use the virtual environment of the lab in *owner*."""
    folder.root.mkdir(parents=True, exist_ok=True)
    if not folder.environment.is_symlink():
        folder.environment.symlink_to(owner.environment)


def install_environment(folder: Folder) -> str | None:
    """Create the virtual environment with the locked versions; return what was done, or None.

    It is created again even if only a version has changed or pip was interrupted, because pip treats a
    partially installed package as installed. The lock is complete, so pip need not resolve versions. Modules
    are not compiled: Python does so on the first import, and most are never imported.
    """
    if are_installed(folder):
        return None
    log = folder.log("pip")
    run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder.environment)], log=log)
    pip = [
        *(sys.executable, "-m", "pip", "--python", folder.program("python")),
        *("install", "--no-input", "--disable-pip-version-check", "--no-deps", "--no-compile"),
    ]
    run([*pip, "--requirement", str(LOCK)], log=log)
    run([*pip, "--no-build-isolation", "--editable", str(REPOSITORY / "nova")], log=log)
    files.write(folder.environment / _MARK, fingerprint())
    return f"{LOCK.read_text().count('==')} packages installed"
