"""What is wanted from Keystone. ``CloudUnavailable`` and ``CloudRefused`` may come from any call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Rights of one user in a project that another one may use."""

    id: str
    trustor_user_id: str
    trustee_user_id: str
    project_id: str | None


class Trusts(Protocol):
    """Trusts. Keystone lets only the trustor and administrators delete one."""

    def own_user_id(self) -> str:
        """Return the user whose rights are used here."""

    def find_trust(self, trust_id: str) -> Trust | None:
        """Return a trust, or None."""

    def delete_trust(self, trust_id: str) -> None:
        """Delete a trust. Raises CloudNotFound."""
