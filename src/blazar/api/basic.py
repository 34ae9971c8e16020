"""HTTP basic authentication against a user file, for use without Keystone.

A line of the file is ``name:hash`` or ``name:hash:role,role``. The hash is a bcrypt hash, as written by
``htpasswd -B``. Empty lines and lines that start with ``#`` are skipped. The name is both the user id and the
project id. Without a third field, a user has the roles admin, member and reader.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import bcrypt

from blazar.api.refusals import refuse, shape_c

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

LOG = logging.getLogger(__name__)

DEFAULT_ROLES = "admin,member,reader"
_BCRYPT_PREFIXES = ("$2a$", "$2b$", "$2y$")
# Hash to compare with if the user does not exist, so that the response takes equally long.
_NOBODY = b"$2b$12$" + b"." * 53
_REFUSAL = shape_c(401, "A user name and a password are needed.")
_CHALLENGE = ("WWW-Authenticate", 'Basic realm="blazar"')
_KEPT_HEADERS = ("HTTP_X_FORWARDED", "HTTP_X_OPENSTACK_REQUEST_ID")


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user of the file."""

    password_hash: bytes
    roles: str


def parse_users(text: str) -> dict[str, User]:
    """Return the users of a file by name.

    Raises:
        ValueError: A line is malformed; the message gives its number, not its content.
    """
    users = {}
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        name, _, rest = entry.partition(":")
        password_hash, _, roles = rest.partition(":")
        if not name or not password_hash.startswith(_BCRYPT_PREFIXES):
            raise ValueError(f"line {number} is not name:hash[:roles] with a bcrypt hash")
        users[name] = User(password_hash=password_hash.encode(), roles=roles.strip() or DEFAULT_ROLES)
    return users


class HtpasswdFile:
    """The users in a file, which is read again when it has changed.

    Raises:
        ValueError: The file is not readable, or a line is malformed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key = secrets.token_bytes(32)
        self._verified: dict[bytes, bytes] = {}
        try:
            self._state = self._stat()
            self._users: Mapping[str, User] = parse_users(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ValueError(f"cannot read the user file {path}") from error

    def verify(self, name: str, password: bytes) -> User | None:
        """Return the user, or None if the name is unknown or the password is wrong."""
        self._refresh()
        user = self._users.get(name)
        if user is None:
            _matches(password, _NOBODY)
            return None
        # bcrypt takes a quarter of a second by design; a password verified before is compared faster.
        digest = hmac.digest(self._key, password, hashlib.sha256)
        if hmac.compare_digest(self._verified.get(user.password_hash, b""), digest):
            return user
        if not _matches(password, user.password_hash):
            return None
        self._verified[user.password_hash] = digest
        return user

    def _stat(self) -> tuple[int, int, int]:
        found = self._path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _refresh(self) -> None:
        """Read the file if it has changed; if it is not usable, keep the present users."""
        try:
            state = self._stat()
            if state != self._state:
                self._state = state
                self._users = parse_users(self._path.read_text(encoding="utf-8"))
                self._verified = {}
        except (OSError, ValueError) as error:
            LOG.warning("User file not read: path=%s reason=%s", self._path, error)


def _matches(password: bytes, password_hash: bytes) -> bool:
    try:
        return bcrypt.checkpw(password, password_hash)
    except ValueError:  # The password is longer than bcrypt accepts, or the hash is damaged.
        return False


class BasicAuth:
    """WSGI middleware that admits the users of a file."""

    def __init__(self, app: WSGIApplication, users: HtpasswdFile) -> None:
        self._app = app
        self._users = users

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on with the user's identity, or respond with 401."""
        credentials = _credentials(environ.get("HTTP_AUTHORIZATION", ""))
        user = self._users.verify(*credentials) if credentials else None
        if credentials is None or user is None:
            return refuse(start_response, 401, _REFUSAL, _CHALLENGE)
        name = credentials[0]
        identity = {
            "HTTP_X_USER_ID": name,
            "HTTP_X_USER_NAME": name,
            "HTTP_X_PROJECT_ID": name,
            "HTTP_X_PROJECT_NAME": name,
            "HTTP_X_ROLES": user.roles,
        }
        return self._app({**_without_identity(environ), **identity}, start_response)


def _credentials(header: str) -> tuple[str, bytes] | None:
    scheme, _, encoded = header.strip().partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        return (name.decode("utf-8"), password) if colon else None
    except ValueError:
        return None


def _without_identity(environ: WSGIEnvironment) -> WSGIEnvironment:
    """Return the environment without the headers with which a client could claim an identity."""
    return {
        key: value
        for key, value in environ.items()
        if key.startswith(_KEPT_HEADERS)
        or not key.startswith(("HTTP_X_", "HTTP_AUTHORIZATION", "HTTP_OPENSTACK_SYSTEM_SCOPE"))
    }
