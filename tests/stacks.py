"""Whether tests can have the whole service with servers of its own."""

from __future__ import annotations

from needed import give_up

from cloudlab.errors import LabError
from rig import needs
from rig.wanted import Database


def require_stack(database: Database, *, has_web_server: bool = False) -> None:
    """Give up on the test if a stack of ``rig`` cannot be had on this machine."""
    try:
        needs.check(database, has_web_server=has_web_server)
    except LabError as error:
        give_up(str(error))
