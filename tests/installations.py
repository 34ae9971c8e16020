"""Availability of the whole service with its own servers for tests."""

from __future__ import annotations

from needed import give_up

from cloudlab.errors import LabError
from rig import needs, releases
from rig.wanted import Database


def require_installation(database: Database, *, has_web_server: bool = False) -> None:
    """Skip the test if this machine cannot run an installation of ``rig``; fail it in CI."""
    try:
        needs.check(database, has_web_server=has_web_server)
    except LabError as error:
        give_up(str(error))


def require_previous_release() -> None:
    """Skip the test if this clone lacks the commit of the previous release; fail it in CI."""
    try:
        releases.programs("previous")
    except releases.MissingReleaseError as error:
        give_up(str(error))
