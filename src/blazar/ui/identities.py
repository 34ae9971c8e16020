"""The identity behind a session, according to the API's own authentication."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from blazar.ui.errors import ConsoleError, SignInRefused, SignInUnavailable
from blazar.ui.sessions import Credentials, Session

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_KEPT: Final = ("SERVER_", "wsgi.", "REMOTE_", "HTTP_HOST", "HTTP_ORIGIN", "HTTP_SEC_FETCH_SITE")
_ENDED: Final = "The session has ended: sign in again."


def with_credentials(environ: WSGIEnvironment, session: Session | None) -> WSGIEnvironment:
    """Return the environment with the credentials of a session only, without those of the request."""
    own = {"HTTP_COOKIE", *(str(each) for each in Credentials)}
    kept = {key: value for key, value in environ.items() if key not in own}
    return kept if session is None else {**kept, str(session.kind): session.secret}


class Identities:
    """The identities that the guard of the API gives to callers."""

    def __init__(self, guard: Callable[[WSGIApplication], WSGIApplication]) -> None:
        self._guarded = guard(_show_identity)

    def find(self, environ: WSGIEnvironment, session: Session | None) -> Mapping[str, Any]:
        """Return user, project and roles of a session, or, for None, of a caller without credentials.

        Raises:
            SignInRefused: The credentials are missing or not accepted.
            SignInUnavailable: They could not be checked.
            ConsoleError: The guard refuses the request for another reason.
        """
        kept = {key: value for key, value in environ.items() if key.startswith(_KEPT)}
        started: list[str] = []

        def start(status: str, headers: object, exc_info: object = None) -> Any:
            started[:] = [status]

        call = {**kept, "REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "PATH_INFO": "/", "QUERY_STRING": ""}
        body = json.loads(b"".join(self._guarded(with_credentials(call, session), start)))
        match int(started[0].partition(" ")[0]):
            case 200:
                return dict(body)
            case 401:
                raise SignInRefused(_ENDED)
            case 503:
                raise SignInUnavailable(str(body["error"]["message"]))
            case status:
                raise ConsoleError(str(body.get("error_message", "The request was refused.")), status=status)


def _show_identity(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    def value(name: str) -> str:
        return str(environ.get(f"HTTP_X_{name}", ""))

    identity = {
        "user": {"id": value("USER_ID"), "name": value("USER_NAME") or value("USER_ID")},
        "project": {"id": value("PROJECT_ID"), "name": value("PROJECT_NAME") or value("PROJECT_ID")},
        "roles": [each for each in value("ROLES").split(",") if each],
    }
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(identity).encode()]
