"""Finding out who asks: one guard per ``auth_strategy``.

A guard is put around the application. It refuses a request, in shape *C*, or hands it on with the
headers that Keystone's middleware has made usual: ``X-User-Id``, ``X-Project-Id``, ``X-Roles`` and others.

Source: rest-api 2.1, 2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from blazar.api.basic import BasicAuth, HtpasswdFile
from blazar.settings import ApiSettings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from oslo_config.cfg import ConfigOpts

    Guard = Callable[[WSGIApplication], WSGIApplication]

NOAUTH_IDENTITY = {
    "HTTP_X_USER_ID": "admin",
    "HTTP_X_PROJECT_ID": "admin",
    "HTTP_X_ROLES": "admin,member,reader",
}
"""Who asks under ``noauth`` unless the client's headers say otherwise."""


def make_guard(settings: ApiSettings, conf: ConfigOpts) -> Guard:
    """Return the guard that ``auth_strategy`` names.

    Args:
        settings: Which strategy, and the users' file of ``http_basic``.
        conf: Where ``keystone`` finds ``[keystone_authtoken]``; the others do not look at it.

    Raises:
        ValueError: There is no such strategy, or the users' file is missing or cannot be used.
    """
    match settings.auth_strategy:
        case "keystone":
            return keystone(conf)
        case "http_basic":
            if settings.http_basic_user_file is None:
                raise ValueError("auth_strategy is http_basic, but no users' file is set")
            users = HtpasswdFile(Path(settings.http_basic_user_file))
            return lambda app: BasicAuth(app, users)
        case "noauth":
            return noauth
        case unknown:
            raise ValueError(f"auth_strategy {unknown!r} is none of keystone, http_basic, noauth")


def keystone(conf: ConfigOpts) -> Guard:
    """Return a guard that lets in who has a valid token of Keystone's."""
    # Imported here because it is slow to import, and a laptop's service does without.
    from keystonemiddleware.auth_token import AuthProtocol

    def guard(app: WSGIApplication) -> WSGIApplication:
        # The decision is never left to the application, whatever the configuration says.
        local = {"oslo_config_config": conf, "delay_auth_decision": "False"}
        return cast("WSGIApplication", AuthProtocol(app, local))

    return guard


def noauth(app: WSGIApplication) -> WSGIApplication:
    """Return *app* for everybody: the client's headers are believed, and an operator's stand in."""

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return app({**NOAUTH_IDENTITY, **environ}, start_response)

    return application
