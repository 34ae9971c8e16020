"""Nova, and Glance for snapshots of its servers."""

from __future__ import annotations

from rig.cloud import flavors, hypervisors, servers
from rig.cloud.messages import Service

_NAMES = {
    400: "badRequest",
    401: "unauthorized",
    403: "forbidden",
    404: "itemNotFound",
    409: "conflictingRequest",
}


def _nova_error(status: int, message: str) -> object:
    return {_NAMES.get(status, "computeFault"): {"code": status, "message": message}}


def _glance_error(status: int, message: str) -> object:
    return {"message": message, "code": str(status), "title": "Error"}


NOVA = Service(
    name="compute",
    path="/compute/v2.1",
    error_body=_nova_error,
    routes=(*hypervisors.ROUTES, *flavors.ROUTES, *servers.ROUTES),
)
GLANCE = Service(
    name="image",
    path="/image",
    error_body=_glance_error,
    routes=servers.IMAGE_ROUTES,
)
