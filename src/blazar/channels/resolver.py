"""Resolution of names within a bounded time."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

from blazar.domain.webhook_rules import Address

Resolve = Callable[[str, int, float], Sequence[Address]]
"""Returns the addresses of a host for a port within some seconds. Raises OSError."""


def resolve(
    host: str, port: int, seconds: float, ask: Callable[..., Sequence[Any]] = socket.getaddrinfo
) -> Sequence[Address]:
    """Return the addresses of a host, in the order in which the system prefers them.

    The system's resolver has no time limit that a caller could set, so it runs in a thread, which is left
    behind if it is late.

    Raises:
        OSError: The host has no address, or the answer is late.
    """
    found: list[Address] = []
    errors: list[Exception] = []

    def look_up() -> None:
        try:
            for *_, address in ask(host, port, type=socket.SOCK_STREAM):
                found.append(ipaddress.ip_address(address[0]))
        except (OSError, ValueError) as error:
            errors.append(error)

    thread = threading.Thread(target=look_up, name="resolve", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError("the name server does not respond")
    if errors or not found:
        raise OSError("the name has no address") from next(iter(errors), None)
    return tuple(dict.fromkeys(found))
