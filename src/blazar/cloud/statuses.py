"""The errors that HTTP statuses of OpenStack's services represent, in a real and in a simulated cloud."""

from __future__ import annotations

from collections.abc import Mapping

from blazar.domain.errors import CloudConflict, CloudError, CloudNotFound, CloudRefused, CloudUnavailable

_ERRORS: Mapping[int, type[CloudError]] = {
    401: CloudUnavailable,
    404: CloudNotFound,
    408: CloudUnavailable,
    409: CloudConflict,
    425: CloudUnavailable,
    429: CloudUnavailable,
}


def error_of_status(status: int) -> type[CloudError]:
    """Return the error for a status other than 2xx.

    A 4xx without a specific meaning is a refusal; any other status is no usable answer.
    """
    return _ERRORS.get(status, CloudRefused if 400 <= status < 500 else CloudUnavailable)
