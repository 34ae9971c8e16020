"""Bodies that are longer than any request may be, and what a process keeps of them."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import requests

MEBIBYTE: Final = 2**20
BODIES: Final = 40
BODY_MEBIBYTES: Final = 16
_SECONDS: Final = 60


def send_bodies(url: str, *, is_chunked: bool) -> list[int | None]:
    """Return the statuses of the answers to bodies that are sent at once; None for who was cut off.

    Args:
        url: Of the API.
        is_chunked: Whether their length is not declared.
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


def resident_mebibytes(pids: Iterable[int]) -> float:
    """Return how much memory processes have."""
    return sum(_resident_mebibytes(each) for each in pids)


def _resident_mebibytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (each for each in status.splitlines() if each.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024 / MEBIBYTE
