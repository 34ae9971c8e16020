"""Texts about problems of storage, as lessees read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_UUID: Final = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_OBSTACLE: Final = (
    rf"{_UUID} \((?:has failed|has snapshots|is reserved for a server|refused|attached|is busy)\)"
)
"""One of the lessee's volumes, with a word chosen by the service, never by the cloud."""
_DELETED: Final = r"; they are deleted (?:at [0-9: -]+ UTC|\d+ hours after the end)"

PROBLEM_TEXTS: Final[Mapping[str, str]] = {
    rf"(volumes that cannot be moved: {_OBSTACLE}(?:, {_OBSTACLE})*(?: and \d+ more)?(?:{_DELETED})?)": r"\1",
    "^volumes are frozen until ([0-9: -]+ UTC)": r"volumes are kept without access until \1",
    "^requested volumes cannot be created": "requested volumes cannot be created yet",
    "^volumes are being moved": "volumes are being moved to an ordinary volume type",
    # The second form was recorded by earlier versions.
    "^volumes of (other users occupy|others have)": "a resource is in use outside of all reservations",
    "^Cinder has no pool": "a resource no longer exists in the cloud",
}
