"""Blazar: reservations of cloud resources in time."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__version__ = "19.0.0"


class _NoEventlet:
    """Makes ``import eventlet`` fail as if it were not installed.

    oslo.service depends on eventlet, so it lies in every environment, and several libraries import
    it whenever they can. This project uses threads only, so they must not find it.

    Source: ADR-0007 (blocking calls, no eventlet).
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ``ModuleNotFoundError`` for eventlet; leave all other names to the other finders."""
        if name == "eventlet":
            raise ModuleNotFoundError("eventlet is not used here", name=name)
        return None


if _NoEventlet not in sys.meta_path:
    sys.meta_path.insert(0, _NoEventlet)
