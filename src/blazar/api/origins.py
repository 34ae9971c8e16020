"""Protection against web pages that use a browser to send requests to the API.

Without authentication, or with passwords that a browser remembers, any page that a user visits could send
requests in the user's name. Three checks prevent this:

- A foreign ``Host`` is refused. A page can make its own name resolve to this machine (DNS rebinding), and its
  requests then count as requests to its own origin; but they still carry that name. IP addresses cannot be
  rebound.
- A change with a foreign ``Origin``, or that the browser marks as cross-site, is refused.
- A POST must be declared as JSON. Other POSTs are the only changes that a browser sends to another origin
  without asking the server first.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from blazar.api.bodies import MUST_DECLARE_JSON
from blazar.api.faults import shape_a
from blazar.api.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_SHOWN = 200
"""Maximum number of characters of a host name that an error message repeats."""
_FOREIGN_HOST = (
    "Host {!r} is not a name of this service: use its IP address, or add the name to [api] trusted_hosts."
)
_FOREIGN_ORIGIN = (
    "Web pages of another origin may not change anything, unless the origin's host is in [api] trusted_hosts."
)


def checked_origins(
    app: WSGIApplication, trusted_hosts: frozenset[str], *, checks_host: bool
) -> WSGIApplication:
    """Return *app* behind the checks of this module.

    Args:
        app: The application to protect.
        trusted_hosts: Lower-case host names to accept in addition to IP addresses and the machine's name.
        checks_host: Whether to refuse a foreign ``Host``. This is not necessary if requests need a password:
            a browser does not send the password to a rebound name.
    """
    own_names = trusted_hosts | {"localhost", socket.gethostname().lower()}

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host = environ.get("HTTP_HOST", "")
        if checks_host and host and not _is_own(_name(f"//{host}"), own_names):
            return _refuse(start_response, 403, _FOREIGN_HOST.format(host[:_SHOWN]))
        if environ.get("REQUEST_METHOD", "") in _CHANGING:
            if _is_foreign(environ, host, trusted_hosts):
                return _refuse(start_response, 403, _FOREIGN_ORIGIN)
            environ[MUST_DECLARE_JSON] = True
        return app(environ, start_response)

    return application


def _refuse(start_response: StartResponse, code: int, message: str) -> Iterable[bytes]:
    return refuse(start_response, code, shape_a(code, message))


def _name(url: str) -> str:
    """Return the host of a URL in lower case; empty if it has none or cannot be parsed."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_own(name: str, own_names: frozenset[str]) -> bool:
    if name in own_names or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_foreign(environ: WSGIEnvironment, host: str, trusted_hosts: frozenset[str]) -> bool:
    """Return whether the request comes from a page of another origin, according to the browser."""
    origin = environ.get("HTTP_ORIGIN")
    if origin is None:
        return environ.get("HTTP_SEC_FETCH_SITE") in {"cross-site", "same-site"}
    is_same = origin.lower() in {f"{scheme}://{host.lower()}" for scheme in ("http", "https")}
    return not is_same and _name(origin) not in trusted_hosts
