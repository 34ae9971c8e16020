"""A real Horizon for tests of the panel in ``dashboard/``, with the lab's Keystone."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cloudlab import files, ports, probes
from cloudlab.commands import plain_environment, run
from cloudlab.folder import REPOSITORY, Folder
from cloudlab.lab import OpenStackLab
from cloudlab.service import Service

_LOCK: Final = Path(__file__).parents[1] / "horizon-constraints.txt"
_PANEL: Final = "_9020_reservations_console.py"
_SETTINGS: Final = """
DEBUG = True
ALLOWED_HOSTS = ["127.0.0.1"]
SECRET_KEY = "a key of tests that is long enough for every check of its length"
OPENSTACK_KEYSTONE_URL = "{auth_url}"
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
CACHES = {{"default": {{"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}}}
COMPRESS_OFFLINE = False
WEBROOT = "/"
"""


@contextmanager
def running_horizon(openstack: OpenStackLab) -> Iterator[str]:
    """Install Horizon with the panel as its page says, and run it; yield its address."""
    folder = openstack.folder
    environment = folder.root / "horizon"
    _install(folder, environment)
    local = next(environment.glob("lib/python*/site-packages/openstack_dashboard/local"))
    files.write(local / "local_settings.py", _SETTINGS.format(auth_url=openstack.details.auth_url))
    port = ports.choose(["horizon"])["horizon"]
    url = f"http://127.0.0.1:{port}"
    service = Service(
        name="horizon",
        folder=folder,
        command=(str(environment / "bin" / "django-admin"), "runserver", "--noreload", f"127.0.0.1:{port}"),
        environment=plain_environment(DJANGO_SETTINGS_MODULE="openstack_dashboard.settings"),
        check=lambda _: probes.listens(port),
    )
    folder.data(service.name).mkdir(parents=True, exist_ok=True)
    service.start()
    try:
        service.wait_until_answers()
        yield url
    finally:
        service.stop()


def _install(folder: Folder, environment: Path) -> None:
    log = folder.log("horizon-pip")
    if not environment.exists():
        run([sys.executable, "-m", "venv", "--without-pip", str(environment)], log=log)
    pip = [
        *(sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")),
        *("install", "--no-input", "--disable-pip-version-check", "--no-compile"),
    ]
    run([*pip, "--no-deps", "--requirement", str(_LOCK)], log=log)
    # A copy, because the build leaves files behind that a later build would include.
    source = folder.data("blazar-console")
    shutil.rmtree(source)
    shutil.copytree(REPOSITORY / "dashboard", source, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    run([*pip, "--no-deps", str(source)], log=log)
    (packages,) = environment.glob("lib/python*/site-packages")
    enabled = packages / "openstack_dashboard" / "local" / "enabled" / _PANEL
    enabled.write_bytes((packages / "blazar_console" / "enabled" / _PANEL).read_bytes())
