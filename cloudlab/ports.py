"""Free ports of the loopback interface."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from cloudlab.errors import LabError

ADDRESS: Final = "127.0.0.1"

# Below Linux's ports for outgoing connections, and below the defaults of RabbitMQ (25672).
_LOWEST: Final = 20000
_BLOCKS: Final = 250
_BLOCK: Final = 20


def choose(names: Sequence[str], taken: Collection[int] = ()) -> Mapping[str, int]:
    """Return a free port for each name; they are adjacent, so that it is visible that they belong together.

    Args:
        names: The names.
        taken: Ports that were chosen before, and on which nothing listens yet.

    Raises:
        LabError: No block of ports is free.
    """
    blocks = list(range(_BLOCKS))
    secrets.SystemRandom().shuffle(blocks)
    for block in blocks:
        first = _LOWEST + block * _BLOCK
        ports = range(first, first + len(names))
        if all(port not in taken and is_free(port) for port in ports):
            return dict(zip(names, ports, strict=True))
    raise LabError(f"no {len(names)} neighbouring ports are free from {_LOWEST} on")


def is_free(port: int) -> bool:
    """Return whether a port is free."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((ADDRESS, port))
        except OSError:
            return False
    return True
