"""``/ui/session``: signing in and out, and switching the project."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Any, Final

import falcon

from blazar.api.bodies import read_body, read_json
from blazar.ui.errors import ConsoleError, SignInRefused
from blazar.ui.identities import Identities
from blazar.ui.sessions import Session, SessionCookies
from blazar.ui.sign_in import KeystoneSignIn, SignIn

_logger = logging.getLogger(__name__)

COOKIE: Final = "blazar_console"
_PENDING: Final = "blazar_console_sso"
_PENDING_SECONDS: Final = 600
_LONGEST_BODY: Final = 16_384
_OWN_SITES: Final = (None, "same-origin", "none")
"""Values of Sec-Fetch-Site, which a page cannot set, of requests that no page of others caused."""
_FOREIGN: Final = "A sign-in cannot begin on a page of another site. Begin in the console."
_NOT_BEGUN: Final = "This browser did not begin a sign-in, or it took too long. Begin again in the console."


class SessionResource:
    """The session of a browser."""

    def __init__(
        self, sign_in: SignIn, cookies: SessionCookies, identities: Identities, region: str | None
    ) -> None:
        self._sign_in = sign_in
        self._cookies = cookies
        self._identities = identities
        self._region = region

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Respond with who is signed in, or with 401 and the ways of signing in."""
        try:
            resp.media = self._describe(req, session_of(req, self._cookies))
        except SignInRefused:
            resp.status = falcon.HTTP_401
            resp.media = self._sign_in.methods

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Begin a session."""
        self._begin(req, resp, self._sign_in.begin(_body(req)))

    def on_put(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Switch the project of the session."""
        project_id = _body(req).get("project_id")
        if not isinstance(project_id, str) or not project_id:
            raise ConsoleError("project_id: must be the id of a project")
        self._begin(req, resp, self._sign_in.switch(self._present(req), project_id))

    def on_delete(self, req: falcon.Request, resp: falcon.Response) -> None:
        """End the session. It ends in this browser even if Keystone cannot revoke the token now."""
        session = session_of(req, self._cookies)
        if session is not None:
            try:
                self._sign_in.end(session)
            except ConsoleError as error:
                _logger.warning("Token not revoked: reason=%s", error)
        resp.unset_cookie(COOKIE, path=_path(req), same_site="Strict")
        resp.status = falcon.HTTP_204

    def _begin(self, req: falcon.Request, resp: falcon.Response, session: Session) -> None:
        resp.media = self._describe(req, session)
        set_session(req, resp, self._cookies.seal(session))

    def _present(self, req: falcon.Request) -> Session:
        session = session_of(req, self._cookies)
        if session is None:
            raise SignInRefused("You are not signed in.")
        return session

    def _describe(self, req: falcon.Request, session: Session | None) -> Mapping[str, Any]:
        identity = self._identities.find(req.env, session)
        return {
            **identity,
            "projects": self._sign_in.projects(session) if session else [],
            "expires_at": session.expires_at if session else None,
            "can_sign_out": session is not None,
            "region": self._region,
        }


class WebSsoResource:
    """Sign-in by a site's identity provider. Keystone sends the browser back with a form that has the token.

    A cookie proves that a user of the same browser began the sign-in, in the console. Otherwise, a page of
    others could sign a user in with the account of an attacker, which would then show what the user does.
    """

    def __init__(self, sign_in: KeystoneSignIn, cookies: SessionCookies, public_url: str) -> None:
        self._sign_in = sign_in
        self._cookies = cookies
        self._console = public_url if public_url.endswith("/") else f"{public_url}/"

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Send the browser to Keystone, unless a page of another site sent it here."""
        if req.get_header("Sec-Fetch-Site") not in _OWN_SITES:
            raise ConsoleError(_FOREIGN, status=403)
        location = self._sign_in.websso_address(req.get_param("idp") or "", f"{self._console}session/websso")
        # Keystone's form comes from another site, so that a stricter cookie would not be sent with it.
        resp.set_cookie(
            _PENDING,
            secrets.token_urlsafe(),
            max_age=_PENDING_SECONDS,
            path=_path(req),
            secure=True,
            http_only=True,
            same_site="None",
        )
        resp.status = falcon.HTTP_303
        resp.location = location

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        """Begin a session with the token of the form, and show the console."""
        if not req.get_cookie_values(_PENDING):
            raise ConsoleError(_NOT_BEGUN, status=403)
        form = read_body(req, _LONGEST_BODY).decode(errors="replace")
        token = falcon.uri.parse_query_string(form).get("token")
        if not isinstance(token, str) or not token:
            raise ConsoleError("token: Keystone must send one")
        set_session(req, resp, self._cookies.seal(self._sign_in.begin_with_token(token)))
        resp.unset_cookie(_PENDING, path=_path(req), same_site="None")
        resp.status = falcon.HTTP_303
        resp.location = self._console


def session_of(req: falcon.Request, cookies: SessionCookies) -> Session | None:
    """Return the session of a request, or None if it has none that can be read."""
    values = req.get_cookie_values(COOKIE)
    return cookies.open(values[0]) if values else None


def set_session(req: falcon.Request, resp: falcon.Response, value: str) -> None:
    """Let the browser keep a session until it is closed, for this path, out of reach of scripts."""
    resp.set_cookie(COOKIE, value, path=_path(req), secure=True, http_only=True, same_site="Strict")


def answer_error(req: falcon.Request, resp: falcon.Response, error: ConsoleError, params: object) -> None:
    """Respond with an error of this module in the shape of the API's errors."""
    resp.status = error.status
    resp.media = {"error_code": error.status, "error_message": str(error)}


def _path(req: falcon.Request) -> str:
    return f"{req.env.get('SCRIPT_NAME', '')}/"


def _body(req: falcon.Request) -> Mapping[str, object]:
    body = read_json(req, _LONGEST_BODY)
    if not isinstance(body, dict):
        raise ConsoleError("the body must be an object")
    return body
