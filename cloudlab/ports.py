"""Free ports of the loopback interface."""

from __future__ import annotations

import atexit
import secrets
import socket
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Final

from cloudlab.errors import LabError

ADDRESS: Final = "127.0.0.1"

# Below Linux's ports for outgoing connections, and below the defaults of RabbitMQ (25672).
_LOWEST: Final = 20000
_BLOCKS: Final = 250
_BLOCK: Final = 20
_MOST_RESERVATIONS: Final = 12
"""Earlier ones of a process are no longer needed: their ports are used, or not needed any more."""
_reservations: Final[deque[ExitStack]] = deque()


@atexit.register
def _release_all() -> None:
    while _reservations:
        _reservations.popleft().close()


def choose(names: Sequence[str], taken: Collection[int] = ()) -> Mapping[str, int]:
    """Return a free port for each name; they are adjacent, so that it is visible that they belong together.

    They are reserved until this process ends or has chosen many others: other processes that call this
    function do not get them, although it may take a minute until something listens on the last one.

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
        if any(port in taken or not is_free(port) for port in ports):
            continue
        reservation = _reserve(ports)
        if reservation is not None:
            _reservations.append(reservation)
            if len(_reservations) > _MOST_RESERVATIONS:
                _reservations.popleft().close()
            return dict(zip(names, ports, strict=True))
    raise LabError(f"no {len(names)} neighbouring ports are free from {_LOWEST} on")


def _reserve(ports: Iterable[int]) -> ExitStack | None:
    """Return a reservation of ports, or None if another process has reserved one of them.

    A reservation holds the UDP ports with the same numbers, which nothing else uses.
    """
    with ExitStack() as held:
        for port in ports:
            holder = held.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            try:
                holder.bind((ADDRESS, port))
            except OSError:
                return None
        return held.pop_all()


def is_free(port: int) -> bool:
    """Return whether a port is free."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((ADDRESS, port))
        except OSError:
            return False
    return True
