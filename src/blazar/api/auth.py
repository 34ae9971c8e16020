"""Authentication: one guard per ``auth_strategy``.

A guard wraps the application. It refuses a request with an error in shape *C*, or passes it on with the
headers of Keystone's middleware: ``X-User-Id``, ``X-Project-Id``, ``X-Roles`` and others.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from blazar.api.basic import BasicAuth, HtpasswdFile
from blazar.api.faults import RETRY_AFTER_SECONDS
from blazar.api.origins import checked_origins
from blazar.api.refusals import refuse, shape_c
from blazar.settings import ApiSettings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from oslo_config.cfg import ConfigOpts

    Guard = Callable[[WSGIApplication], WSGIApplication]

_KEYSTONE_SECONDS = 5
_KEYSTONE_RETRIES = 1
_REACHED = "blazar.reached"
_DESCRIBING = frozenset({"content-type", "content-length"})
_REFUSALS = {
    401: "The request you have made requires authentication.",
    503: "Keystone does not answer, so the token cannot be checked. Try again later.",
}
NOAUTH_IDENTITY = {
    "HTTP_X_USER_ID": "admin",
    "HTTP_X_PROJECT_ID": "admin",
    "HTTP_X_ROLES": "admin,member,reader",
}
"""Identity of a caller under ``noauth``; headers of the client replace its values."""


def make_guard(settings: ApiSettings, conf: ConfigOpts) -> Guard:
    """Return the guard for the configured ``auth_strategy``.

    Args:
        settings: The strategy, the user file of ``http_basic``, and the trusted host names of the API.
        conf: The configuration; only ``keystone`` reads it, for ``[keystone_authtoken]``.

    Raises:
        ValueError: The strategy is unknown, or the user file is not set or not usable.
    """
    hosts = settings.trusted_hosts
    match settings.auth_strategy:
        case "keystone":
            return keystone(conf)
        case "http_basic":
            if settings.http_basic_user_file is None:
                raise ValueError("auth_strategy is http_basic, but http_basic_auth_user_file is not set")
            users = HtpasswdFile(Path(settings.http_basic_user_file))
            return lambda app: checked_origins(BasicAuth(app, users), hosts, checks_host=False)
        case "noauth":
            return lambda app: checked_origins(noauth(app), hosts, checks_host=True)
        case unknown:
            raise ValueError(f"auth_strategy {unknown!r} is not one of keystone, http_basic, noauth")


def keystone(conf: ConfigOpts) -> Guard:
    """Return a guard that admits requests with a valid Keystone token."""
    # Imported here because the import is slow and the standalone service does not need it.
    from keystonemiddleware.auth_token import AuthProtocol, list_opts

    for group, options in list_opts():
        conf.register_opts(options, group=group)
    # Report an unreachable Keystone within seconds. With the library's defaults, requests hang for minutes.
    conf.set_default("http_connect_timeout", _KEYSTONE_SECONDS, group="keystone_authtoken")
    conf.set_default("http_request_max_retries", _KEYSTONE_RETRIES, group="keystone_authtoken")

    def guard(app: WSGIApplication) -> WSGIApplication:
        # The middleware always decides, even if the configuration delegates the decision to the application.
        local = {"oslo_config_config": conf, "delay_auth_decision": "False"}
        return refused_in_json(lambda inner: cast("WSGIApplication", AuthProtocol(inner, local)), app)

    return guard


def refused_in_json(guard: Guard, app: WSGIApplication) -> WSGIApplication:
    """Return *app* behind *guard*, with refusals as JSON in shape C; a 503 gets a ``Retry-After``."""

    def reached(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ[_REACHED].append(True)
        return app(environ, start_response)

    guarded = guard(reached)

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_reached: list[bool] = []
        started: list[Any] = []

        def start(*arguments: Any) -> Any:
            started[:] = arguments
            return lambda data: None

        body = guarded({**environ, _REACHED: is_reached}, start)
        status, headers, *exc_info = started
        code = int(status.partition(" ")[0])
        if is_reached or code < HTTPStatus.BAD_REQUEST:
            start_response(status, headers, *exc_info)
            return body
        kept = [each for each in headers if each[0].lower() not in _DESCRIBING]
        if code == HTTPStatus.SERVICE_UNAVAILABLE:
            kept.append(("Retry-After", str(RETRY_AFTER_SECONDS)))
        message = _REFUSALS.get(code, HTTPStatus(code).description)
        return refuse(start_response, code, shape_c(code, message), *kept)

    return application


def noauth(app: WSGIApplication) -> WSGIApplication:
    """Return *app* without authentication.

    The identity headers of the client are trusted; those that are missing are set to an operator's.
    """

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return app({**NOAUTH_IDENTITY, **environ}, start_response)

    return application
