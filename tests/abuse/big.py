"""Bodies that exceed the maximum length of a request."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

import requests

MEBIBYTE: Final = 2**20
BODIES: Final = 40
BODY_MEBIBYTES: Final = 16
_SECONDS: Final = 60


def send_bodies(url: str, *, is_chunked: bool) -> list[int | None]:
    """Return the statuses of responses to bodies sent concurrently; None for a closed connection.

    Args:
        url: The URL of the API.
        is_chunked: Whether to send chunked bodies, without a declared length.
    """

    def send(_: int) -> int | None:
        parts = (b" " * MEBIBYTE for _ in range(BODY_MEBIBYTES))
        headers = {"Content-Type": "application/json"}
        body = parts if is_chunked else b"".join(parts)
        try:
            return requests.post(f"{url}/leases", data=body, headers=headers, timeout=_SECONDS).status_code
        except requests.ConnectionError:
            return None

    with ThreadPoolExecutor(BODIES) as pool:
        return list(pool.map(send, range(BODIES)))
