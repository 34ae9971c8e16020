"""One-line error messages, with the address, the cause and the setting that helps."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from keystoneauth1 import exceptions as ksa_exceptions

from blazarclient import exception
from blazarclient.i18n import _

UNAUTHORIZED = 401
_RETRY = "try again in"
"""In messages of the service that already give the time; the service does not translate them."""

_URL = re.compile(r"https?://[^\s:/\]]+(?::\d+)?|https?://\[[^\s\]]+\](?::\d+)?")
_REASON = re.compile(r"(?<=\] )[^'\")\]]+|Remote end closed connection without response")
"""Cause in a message of the operating system, ``[Errno 111] Connection refused``, or of urllib3."""


def explain(error: exception.BlazarClientException) -> str:
    """Return the message of an error; for an error of the service, with its status and request id.

    The message also has the time after which to repeat the request, if the service gives one.
    """
    if "request_id" not in error.kwargs:
        return str(error)
    request_id = error.kwargs["request_id"]
    line = f"{_with_retry_after(error)} (HTTP {error.code}{', ' + request_id if request_id else ''})"
    if error.code == UNAUTHORIZED:
        return _("%s: check the user name and password, or the token") % line
    return line


def _with_retry_after(error: exception.BlazarClientException) -> str:
    text, seconds = str(error), error.kwargs.get("retry_after")
    if seconds is None or _RETRY in text:
        return text
    return _("%(problem)s; try again in %(seconds)d seconds") % {
        "problem": text.rstrip("."),
        "seconds": seconds,
    }


def explain_transport_error(error: ksa_exceptions.ClientException) -> str | None:
    """Return the message of an error without a response of the service, or None if it is of another type."""
    match error:
        case ksa_exceptions.Unauthorized():
            return _rejected(error)
        case ksa_exceptions.SSLError():
            return _(
                "TLS connection failed: %s. If a private authority signed the certificate, specify the "
                "authority's certificate file with --os-cacert or OS_CACERT"
            ) % _where(error)
        case ksa_exceptions.ConnectionError() | ksa_exceptions.DiscoveryFailure():
            return _unreachable(error)
        case ksa_exceptions.EndpointNotFound():
            return _(
                "%s Check --os-region-name and --os-interface, or specify the URL of the service with "
                "--os-endpoint-override (without Keystone: --os-endpoint or OS_ENDPOINT)"
            ) % _sentence(str(error))
    return None


def _rejected(error: ksa_exceptions.Unauthorized) -> str:
    request_id = f", {error.request_id}" if error.request_id else ""
    return _(
        "Keystone rejected the credentials (HTTP 401%s): check the user name, password, project and "
        "domains (OS_USERNAME, OS_PASSWORD, OS_PROJECT_NAME, OS_USER_DOMAIN_NAME, OS_PROJECT_DOMAIN_NAME, "
        "or clouds.yaml)"
    ) % (request_id,)


def _unreachable(error: Exception) -> str:
    return _(
        "Cannot connect to %s. Check that the service is running and that the address is correct "
        "(OS_ENDPOINT, OS_AUTH_URL, clouds.yaml or the service catalogue)"
    ) % _where(error)


def _where(error: Exception) -> str:
    """Return the address and the cause in the message of an error, or else the whole message."""
    text = str(error)
    url, reasons = _URL.search(text), _REASON.findall(text)
    if url is None:
        return text
    parts = urlsplit(url[0])
    address = f"{parts.scheme}://{parts.netloc}"
    if isinstance(error, ksa_exceptions.ConnectTimeout):
        return _("%s: timed out") % address
    return f"{address}: {reasons[-1].partition(' (_ssl')[0].strip()}" if reasons else address


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
