"""The panel, the page in it, and the requests of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import requests
from django.conf import settings
from django.http import Http404, HttpResponse, JsonResponse
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from horizon import views
from openstack_dashboard.api import base

from blazar_console.bundle_files import find_file
from blazar_console.panel import SERVICE_TYPE

if TYPE_CHECKING:
    from django.http import HttpRequest

_SECONDS: Final = 60
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_MARK: Final = "blazar-console"
_SENT: Final = (
    "Accept",
    "Content-Type",
    "Idempotency-Key",
    "If-None-Match",
    "OpenStack-API-Version",
)
_RETURNED: Final = (
    "Content-Type",
    "ETag",
    "Idempotency-Replayed",
    "Link",
    "OpenStack-API-Version",
    "Retry-After",
    "x-openstack-request-id",
)


class PanelView(views.HorizonTemplateView):
    """The panel with the page in a frame."""

    template_name = "blazar_console/index.html"


@xframe_options_sameorigin
def serve_file(request: HttpRequest, name: str = "") -> HttpResponse:
    """Respond with the page or one of its files."""
    found = find_file(name)
    if found is None:
        raise Http404
    content, headers = found
    return HttpResponse(content, headers=headers)


def describe_session(request: HttpRequest) -> HttpResponse:
    """Respond with the user and the project of Horizon's session, which the page cannot end or change."""
    user = request.user
    return JsonResponse(
        {
            "user": {"id": user.id, "name": user.username},
            "project": {"id": user.project_id, "name": user.project_name},
            "roles": [each["name"] for each in user.roles],
            "projects": [],
            "expires_at": user.token.expires.isoformat(),
            "can_sign_out": False,
            "region": user.services_region,
        }
    )


@csrf_exempt
def pass_on(request: HttpRequest, rest: str) -> HttpResponse:
    """Pass a request on to the API of the region that is chosen, with the token of the session.

    Instead of Horizon's check, changes need a header that only scripts of the same origin can send.
    """
    if request.method not in _READING and request.headers.get("X-Requested-With") != _MARK:
        return _error(403, f"Changes need the header X-Requested-With: {_MARK}.")
    endpoint = base.url_for(request, SERVICE_TYPE).rstrip("/").removesuffix("/v1")
    try:
        answer = requests.request(
            str(request.method),
            f"{endpoint}/{quote(rest)}",
            params=request.META.get("QUERY_STRING", ""),
            data=request.body,
            headers={
                **{key: request.headers[key] for key in _SENT if key in request.headers},
                "X-Auth-Token": request.user.token.id,
            },
            timeout=_SECONDS,
            verify=_verification(),
            allow_redirects=False,
        )
    except requests.RequestException:
        return _error(503, "The reservation service does not answer.")
    kept = {key: answer.headers[key] for key in _RETURNED if key in answer.headers}
    kept["Cache-Control"] = "no-store"
    return HttpResponse(answer.content, status=answer.status_code, headers=kept)


def _error(status: int, message: str) -> HttpResponse:
    """Return an error in the shape of the API's errors."""
    return JsonResponse({"error_code": status, "error_message": message}, status=status)


def _verification() -> bool | str:
    """Return whether certificates are checked, or the path of the authorities that sign them."""
    if getattr(settings, "OPENSTACK_SSL_NO_VERIFY", False):
        return False
    return getattr(settings, "OPENSTACK_SSL_CACERT", None) or True
