"""The programs of this release and of the previous one.

The previous release is a wheel built from its commit, in a virtual environment of its own. It is installed
once, below ``build/``, and uses the dependencies of the environment that runs this program.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from cloudlab import blazar
from cloudlab.errors import LabError
from cloudlab.folder import REPOSITORY

Release = Literal["previous", "present"]
"""Whether processes are those of the previous release or of this one."""
PREVIOUS_COMMIT: Final = "842b5043d9eeef3539cbe04687effbd5c774af0b"
"""The commit of this repository that is the previous release."""
_FOLDER: Final = REPOSITORY / "build" / "previous-release"
_BUILD: Final = ("wheel", "--no-deps", "--no-index", "--no-build-isolation")
_INSTALL: Final = ("install", "--no-deps", "--no-index")
_QUIET: Final = ("--quiet", "--no-input", "--disable-pip-version-check")
_UWSGI: Final = "#!{python}\nimport sys\n\nimport pyuwsgi\n\nsys.exit(pyuwsgi.run())\n"


class MissingReleaseError(LabError):
    """The clone has no history that reaches back to the previous release: fetch it."""


def programs(release: Release) -> Path:
    """Return the folder of a release's programs, such as ``blazar-manager``, ``uwsgi`` and ``python``.

    The previous release is built and installed if it is not there yet, which takes some seconds.

    Raises:
        MissingReleaseError: The repository lacks the commit of the previous release.
        LabError: The installation failed.
    """
    if release == "present":
        return blazar.PROGRAMS
    folder = _FOLDER / PREVIOUS_COMMIT
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.parent / "lock"):
        if not _is_installed(folder):
            _require_commit()
            _install(folder)
    return folder / "bin"


def _require_commit() -> None:
    if not _has_commit():
        raise MissingReleaseError(
            f"the previous release, {PREVIOUS_COMMIT}, is not in this clone: fetch the whole history,"
            " for example with git fetch --unshallow"
        )


def _has_commit() -> bool:
    command = ("git", "cat-file", "-e", f"{PREVIOUS_COMMIT}^{{commit}}")
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False).returncode == 0


def _is_installed(folder: Path) -> bool:
    """Return whether the release is installed for the interpreter and the environment of this process."""
    stamp = folder / "installed"
    return stamp.exists() and stamp.read_text() == _identity()


def _identity() -> str:
    return f"{sys.version}\n{_dependencies()}\n"


def _dependencies() -> str:
    """Return the lines of a .pth file that adds the packages of this process's environment."""
    return "\n".join(dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))))


def _install(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    python = folder / "bin" / "python"
    with tempfile.TemporaryDirectory() as name:
        wheel = _build(Path(name))
        _run((sys.executable, "-m", "venv", "--without-pip", str(folder)))
        # Before the dependencies are added, among which pip would find this release.
        _run((sys.executable, "-m", "pip", "--python", str(python), *_INSTALL, *_QUIET, str(wheel)))
    packages = _run((str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")).strip()
    # Files of this kind in an added folder have no effect, so that its editable installs are not added.
    (Path(packages) / "dependencies.pth").write_text(f"{_dependencies()}\n")
    uwsgi = folder / "bin" / "uwsgi"
    uwsgi.write_text(_UWSGI.format(python=python))
    uwsgi.chmod(0o755)
    imported = _run((str(python), "-c", "import blazar; print(blazar.__file__)")).strip()
    if not Path(imported).is_relative_to(packages):
        raise LabError(f"the environment of the previous release imports {imported}")
    (folder / "installed").write_text(_identity())


def _build(folder: Path) -> Path:
    """Return the wheel of the previous release."""
    source, archive = folder / "source", folder / "source.tar"
    source.mkdir()
    _run(
        (
            "git",
            "archive",
            f"--output={archive}",
            PREVIOUS_COMMIT,
            "src",
            "pyproject.toml",
            "README.md",
            "LICENSE",
        )
    )
    _run(("tar", "--extract", f"--file={archive}", f"--directory={source}"))
    _run((sys.executable, "-m", "pip", *_BUILD, *_QUIET, f"--wheel-dir={folder}", str(source)))
    (wheel,) = folder.glob("*.whl")
    return wheel


def _run(command: Sequence[str]) -> str:
    """Return the output of a command. Raises LabError."""
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"{' '.join(command[:4])} … failed with exit code {done.returncode}\n{done.stderr}")
    return done.stdout


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock on a file: several test processes may need the installation at the same time."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
