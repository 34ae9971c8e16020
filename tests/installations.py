"""Availability of the whole service with its own servers for tests."""

from __future__ import annotations

from needed import give_up

from cloudlab.errors import LabError
from rig import needs
from rig.wanted import Database


def require_installation(database: Database, *, has_web_server: bool = False) -> None:
    """Skip the test if this machine cannot run an installation of ``rig``; fail it in CI."""
    try:
        needs.check(database, has_web_server=has_web_server)
    except LabError as error:
        give_up(str(error))
