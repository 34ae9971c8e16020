"""The state folder of the embedded service: files that only their owner may read, and a lock."""

from __future__ import annotations

import fcntl
import logging
import os
import stat
from pathlib import Path
from typing import IO, Final

from oslo_config.cfg import ConfigOpts
from oslo_policy import opts as policy_options

_logger = logging.getLogger(__name__)

DATABASE: Final = "blazar.sqlite"
CLOUD: Final = "cloud.json"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OWN_FILES: Final = ("lock", f"{DATABASE}*", f"{CLOUD}*", "policy.yaml", "machines.yaml")


def open_folder(path: Path) -> IO[str]:
    """Make the folder private and return its lock, which is held as long as the file is open.

    The permissions of other users are removed from an existing folder and the service's files in it.

    Raises:
        ValueError: The folder is not usable; the message has the reason.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _tighten(path)
        file = (path / "lock").open("w")
    except OSError as error:
        raise ValueError(f"[standalone] state_dir: {path}: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ValueError(f"[standalone] state_dir: {path} is in use by another process") from None
    return file


def database_url(path: Path) -> str:
    """Return the URL of the database in a state folder."""
    return f"sqlite:///{path / DATABASE}"


def use_own_policy_files(conf: ConfigOpts, path: Path) -> None:
    """Restrict policy files to the state folder and the folders of the given configuration files.

    By default, the library also searches the folders of an installed service, such as ``/etc/blazar``.
    """
    policy_options.set_defaults(conf, policy_file="policy.yaml")
    folders = [path, *(Path(each).resolve().parent for each in conf.config_file or ())]
    for name, is_list in (("policy_file", False), ("policy_dirs", True)):
        chosen = conf.oslo_policy[name]
        found = [str(_found(each, folders)) for each in (chosen if is_list else [chosen])]
        conf.set_override(name, found if is_list else found[0], group="oslo_policy")


def _found(name: str, folders: list[Path]) -> Path:
    """Return the path of a policy file in the last folder that has it; if none has it, in the first."""
    return next((each / name for each in reversed(folders) if (each / name).exists()), folders[0] / name)


def _tighten(path: Path) -> None:
    found = path.stat()
    if found.st_mode & stat.S_ISVTX or os.geteuid() not in (0, found.st_uid):
        raise ValueError(
            f"[standalone] state_dir: {path} is shared with other users: use a folder of your own"
        )
    if found.st_mode & _OTHERS:
        path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
        _logger.warning("removed the permissions of other users: folder=%s", path)
    for pattern in _OWN_FILES:
        for each in path.glob(pattern):
            each.chmod(0o600)
