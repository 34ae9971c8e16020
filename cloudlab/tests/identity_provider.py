"""Keystone behind a web server that asks who a user is: the WSGI object of the tests of web single sign-on.

A site's web server does that with a module for its identity provider, such as mod_auth_openidc. Keystone
does not see the protocol between the two, only the variables of the request that the module sets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from http.cookies import SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qs

from keystone.wsgi.api import application as keystone

_COOKIE: Final = "campus_user"
_GUARDED: Final = "/auth/OS-FEDERATION/"
_FORM: Final = b"""<!DOCTYPE html><title>Campus</title><form method="post">
<label>Campus account <input name="account"></label><button>Log in</button></form>"""


def application(
    environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], Any]
) -> Iterable[bytes]:
    """Ask for an account before requests of single sign-on, and pass others on as they are."""
    if _GUARDED not in environ["PATH_INFO"]:
        passed: Iterable[bytes] = keystone(environ, start_response)
        return passed
    cookie = SimpleCookie(environ.get("HTTP_COOKIE", "")).get(_COOKIE)
    if cookie is not None:
        signed_in: Iterable[bytes] = keystone(
            {**environ, "OIDC_ISS": os.environ["OIDC_ISSUER"], "OIDC_ACCOUNT": cookie.value}, start_response
        )
        return signed_in
    if environ["REQUEST_METHOD"] == "POST":
        form = parse_qs(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])).decode())
        headers = [
            ("Set-Cookie", f"{_COOKIE}={form['account'][0]}; Path=/v3"),
            ("Location", f"{environ['SCRIPT_NAME']}{environ['PATH_INFO']}?{environ['QUERY_STRING']}"),
        ]
        start_response("303 See Other", headers)
        return []
    start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
    return [_FORM]
