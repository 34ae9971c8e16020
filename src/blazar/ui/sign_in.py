"""The ways of signing in, by ``auth_strategy``."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final, Protocol
from urllib.parse import quote, urlencode

from blazar.ui.errors import ConsoleError
from blazar.ui.keystone import Keystone, Token
from blazar.ui.sessions import Credentials, Session

_LONGEST: Final = 1000
"""Characters of the longest name or password."""


class SignIn(Protocol):
    """Sign-in under an authentication strategy."""

    @property
    def methods(self) -> Mapping[str, object]:
        """Return the methods as the page gets them; none if users do not sign in."""

    def begin(self, body: Mapping[str, object]) -> Session:
        """Return a new session.

        Raises:
            ConsoleError: A value is missing or unknown; the message names it.
            SignInRefused: The credentials are not accepted.
            SignInUnavailable: They could not be checked.
        """

    def switch(self, session: Session, project_id: str) -> Session:
        """Return a session of the same user for another project. Raises like :meth:`begin`."""

    def projects(self, session: Session) -> list[Mapping[str, str]]:
        """Return the projects to which a session can be switched. Raises like :meth:`begin`."""

    def end(self, session: Session) -> None:
        """Make the credentials of a session useless, if possible. Raises like :meth:`begin`."""


class KeystoneSignIn:
    """Sign-in by password, by application credential, or with a token of web single sign-on."""

    def __init__(self, keystone: Keystone, *, user_domain: str, websso: Mapping[str, str]) -> None:
        self._keystone = keystone
        self._user_domain = user_domain
        self._websso = websso

    @property
    def methods(self) -> Mapping[str, object]:
        """Return the methods and the choices of web single sign-on."""
        methods = ["password", "application_credential", *(["websso"] if self._websso else [])]
        choices = [{"id": key, "name": label} for key, label in self._websso.items()]
        return {"methods": methods, "websso": choices, "user_domain": self._user_domain}

    def begin(self, body: Mapping[str, object]) -> Session:
        """Return a new session. Raises as in the protocol."""
        match body.get("method"):
            case "password":
                domain = _optional(body, "domain") or self._user_domain
                user, password = _text(body, "user"), _text(body, "password")
                return _session(self._keystone.sign_in(user, password, domain, _optional(body, "project_id")))
            case "application_credential":
                credential = _text(body, "id"), _text(body, "secret")
                return _session(self._keystone.sign_in_with_credential(*credential))
            case unknown:
                raise ConsoleError(f"method: {unknown!r} is not one of password, application_credential")

    def begin_with_token(self, token: str) -> Session:
        """Return a new session for a token, which web single sign-on gives. Raises as in the protocol."""
        return _session(self._keystone.scope(token, None))

    def switch(self, session: Session, project_id: str) -> Session:
        """Return a session for another project. Raises as in the protocol."""
        return _session(self._keystone.scope(session.secret, project_id))

    def projects(self, session: Session) -> list[Mapping[str, str]]:
        """Return the projects of the user. Raises as in the protocol."""
        return [{"id": each.id, "name": each.name} for each in self._keystone.projects(session.secret)]

    def end(self, session: Session) -> None:
        """Revoke the token. Raises as in the protocol."""
        self._keystone.revoke(session.secret)

    def websso_address(self, choice: str, origin: str) -> str:
        """Return where the browser is sent for a choice; Keystone sends the token to *origin*.

        Raises:
            ConsoleError: The choice does not exist.
        """
        if choice not in self._websso:
            raise ConsoleError(f"idp: {choice!r} is not a choice of [ui] websso", status=404)
        provider, _, protocol = choice.rpartition("/")
        of_protocol = f"protocols/{quote(protocol, safe='')}/websso"
        path = (
            f"identity_providers/{quote(provider, safe='')}/{of_protocol}"
            if provider
            else f"websso/{quote(protocol, safe='')}"
        )
        return f"{self._keystone.url}/auth/OS-FEDERATION/{path}?{urlencode({'origin': origin})}"


class BasicSignIn:
    """Sign-in with the name and password of the user file; the guard checks them at every request."""

    methods: Mapping[str, object] = {"methods": ["basic"], "websso": []}

    def begin(self, body: Mapping[str, object]) -> Session:
        """Return a new session, whose credentials are not checked yet. Raises as in the protocol."""
        if body.get("method") != "basic":
            raise ConsoleError(f"method: {body.get('method')!r} is not basic")
        pair = f"{_text(body, 'user')}:{_text(body, 'password')}"
        return Session(
            kind=Credentials.BASIC,
            secret=f"Basic {base64.b64encode(pair.encode()).decode()}",
            expires_at=None,
        )

    def switch(self, session: Session, project_id: str) -> Session:
        """Refuse: a user has one project."""
        raise ConsoleError("project_id: there are no other projects", status=403)

    def projects(self, session: Session) -> list[Mapping[str, str]]:
        """Return none."""
        return []

    def end(self, session: Session) -> None:
        """Do nothing."""


class NoSignIn(BasicSignIn):
    """No sign-in: every caller is an operator."""

    methods: Mapping[str, object] = {}

    def begin(self, body: Mapping[str, object]) -> Session:
        """Refuse."""
        raise ConsoleError("there is no sign-in: auth_strategy is noauth", status=404)


def _session(token: Token) -> Session:
    return Session(kind=Credentials.TOKEN, secret=token.value, expires_at=token.expires_at)


def _optional(body: Mapping[str, object], key: str) -> str | None:
    return _text(body, key) if body.get(key) not in (None, "") else None


def _text(body: Mapping[str, object], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST:
        raise ConsoleError(f"{key}: must be a text of 1 to {_LONGEST} characters")
    return value
