"""Sessions of the console. A cookie holds the whole session, encrypted, so that any process can read it."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from blazar.ui.errors import ConsoleError

SHORTEST_KEY: Final = 32
"""Characters of the shortest secret."""
LONGEST_COOKIE: Final = 3800
"""Characters of the longest value; browsers drop cookies above about 4,096 bytes without a message."""


class Credentials(StrEnum):
    """The kinds of credentials; the value is the header that carries them, as WSGI names it."""

    TOKEN = "HTTP_X_AUTH_TOKEN"  # noqa: S105 - the name of a header
    BASIC = "HTTP_AUTHORIZATION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The credentials of a signed-in user."""

    kind: Credentials
    secret: str
    """The value of the header."""
    expires_at: str | None = None
    """The end of the token's validity in ISO 8601; None if it has none."""


class SessionCookies:
    """Encryption and decryption of sessions.

    Raises:
        ValueError: A secret is too short.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        short = [each for each in keys if len(each) < SHORTEST_KEY]
        if short:
            raise ValueError(f"[ui] session_keys: a secret must have at least {SHORTEST_KEY} characters")
        self._fernet = MultiFernet([_fernet(each) for each in keys or [secrets.token_urlsafe(SHORTEST_KEY)]])

    def seal(self, session: Session) -> str:
        """Return the value of the cookie.

        Raises:
            ConsoleError: The session is longer than browsers keep.
        """
        value = self._fernet.encrypt(json.dumps(asdict(session)).encode()).decode()
        if len(value) > LONGEST_COOKIE:
            raise ConsoleError(
                "the token is too long for a cookie: use another kind of token, or fewer roles"
            )
        return value

    def open(self, value: str) -> Session | None:
        """Return the session of a cookie, or None if no known secret encrypted it."""
        try:
            fields = json.loads(self._fernet.decrypt(value.encode()))
        except InvalidToken:
            return None
        return Session(**{**fields, "kind": Credentials(fields["kind"])})


def _fernet(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))
