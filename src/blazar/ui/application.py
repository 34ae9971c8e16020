"""The console as a WSGI application in front of the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import falcon

from blazar.api.failures import with_failures_answered
from blazar.api.faults import shape_a
from blazar.api.origins import checked_origins
from blazar.api.refusals import refuse
from blazar.settings import ApiSettings, UiSettings
from blazar.telemetry.pages import note_route
from blazar.ui.bundle_files import BUNDLE, BundleFiles
from blazar.ui.errors import ConsoleError
from blazar.ui.identities import Identities, with_credentials
from blazar.ui.keystone import Keystone
from blazar.ui.session_api import SessionResource, WebSsoResource, answer_error, session_of
from blazar.ui.sessions import SessionCookies
from blazar.ui.sign_in import BasicSignIn, KeystoneSignIn, NoSignIn, SignIn

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    Guard = Callable[[WSGIApplication], WSGIApplication]

PATH: Final = "/ui"
_API: Final = "/api"
_SESSION: Final = "/session"
_WEBSSO: Final = "/session/websso"
_CHANGING: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_MARK: Final = ("HTTP_X_REQUESTED_WITH", "blazar-console")
_UNMARKED: Final = "Changes need the header X-Requested-With: blazar-console."
_NO_STORE: Final = ("Cache-Control", "no-store")


def with_console(
    api: WSGIApplication, guard: Guard, settings: ApiSettings, ui: UiSettings, *, bundle: Path = BUNDLE
) -> WSGIApplication:
    """Return the API with the console under ``/ui/``.

    Args:
        api: The whole API, which authenticates its callers.
        guard: From :func:`blazar.api.auth.make_guard`.
        settings: The strategy of authentication, and trusted host names.
        ui: The settings of the console.
        bundle: The folder of the page.

    Raises:
        ValueError: A setting is missing or not usable; the message names the option.
    """
    files = BundleFiles(bundle, ui.frame_ancestors)
    cookies = SessionCookies(ui.session_keys)
    sign_in = _sign_in(settings, ui)
    sessions = SessionResource(sign_in, cookies, Identities(guard), ui.region)
    own = _own_app(sessions, sign_in, cookies, ui)
    checked_own = checked_origins(_marked(own), settings.trusted_hosts, checks_host=False)
    checked_api = checked_origins(_marked(api), settings.trusted_hosts, checks_host=False)

    def console(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path.startswith(f"{_API}/"):
            session = session_of(falcon.Request(environ), cookies)
            call = with_credentials(environ, session)
            # Addresses in answers are those of the API itself, which need no session of a browser.
            call["SCRIPT_NAME"] = environ["SCRIPT_NAME"].removesuffix(PATH)
            call["PATH_INFO"] = path.removeprefix(_API)
            return checked_api(call, _without_challenges(start_response))
        note_route(environ, f"{PATH}{path}" if path in (_SESSION, _WEBSSO) else f"{PATH}/")
        if path == _WEBSSO:
            return own(environ, start_response)
        if path == _SESSION:
            return checked_own(environ, start_response)
        return files.serve(path.removeprefix("/"), environ, start_response)

    failing = with_failures_answered(console, names_request=True)

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == PATH:
            headers = [("Location", f"{environ.get('SCRIPT_NAME', '')}{PATH}/"), ("Content-Length", "0")]
            start_response("308 Permanent Redirect", [("Content-Type", "text/plain"), *headers])
            return []
        if path.startswith(f"{PATH}/"):
            inner = {**environ, "SCRIPT_NAME": f"{environ.get('SCRIPT_NAME', '')}{PATH}"}
            inner["PATH_INFO"] = path.removeprefix(PATH)
            return failing(inner, start_response)
        return api(environ, start_response)

    return application


def _sign_in(settings: ApiSettings, ui: UiSettings) -> SignIn:
    match settings.auth_strategy:
        case "keystone":
            if ui.keystone_url is None:
                raise ValueError(
                    "[ui] keystone_url: sign-in needs it, or [keystone_authtoken] www_authenticate_uri"
                )
            if ui.websso and ui.public_url is None:
                raise ValueError("[ui] public_url: web single sign-on needs it")
            keystone = Keystone(ui.keystone_url, verify=ui.verify)
            return KeystoneSignIn(keystone, user_domain=ui.user_domain, websso=ui.websso)
        case "http_basic":
            return BasicSignIn()
        case _:
            return NoSignIn()


def _own_app(
    sessions: SessionResource, sign_in: SignIn, cookies: SessionCookies, ui: UiSettings
) -> falcon.App[Any, Any]:
    app: falcon.App[Any, Any] = falcon.App()
    app.add_error_handler(ConsoleError, answer_error)
    app.add_route(_SESSION, sessions)
    if isinstance(sign_in, KeystoneSignIn) and ui.public_url is not None:
        app.add_route(_WEBSSO, WebSsoResource(sign_in, cookies, ui.public_url))
    return app


def _marked(app: WSGIApplication) -> WSGIApplication:
    """Return *app* behind a check that changes have a header that pages of others cannot send."""

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] in _CHANGING and environ.get(_MARK[0]) != _MARK[1]:
            return refuse(start_response, 403, shape_a(403, _UNMARKED))
        return app(environ, start_response)

    return application


def _without_challenges(start_response: StartResponse) -> StartResponse:
    """Return a function that starts responses which make no browser ask for a password, nor are stored."""

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
        kept = [each for each in headers if each[0].lower() != "www-authenticate"]
        return start_response(status, [*kept, _NO_STORE], *exc_info)

    return start
