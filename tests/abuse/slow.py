"""Clients that send a byte from time to time and never complete a request."""

from __future__ import annotations

import itertools
import resource
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

_PAUSE_SECONDS: Final = 1.0
_CONNECT_SECONDS: Final = 30
_SPARE_FILES: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """The data that a slow client sends first, and the data that it repeats."""

    begins_with: bytes
    goes_on_with: bytes


IN_THE_HEADERS: Final = Habit(
    begins_with=b"GET /v1/leases HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", goes_on_with=b"x"
)
IN_THE_BODY: Final = Habit(
    begins_with=b"POST /v1/leases HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100000\r\n\r\n" + b" " * 50_000,
    goes_on_with=b" ",
)
IN_A_CHUNK: Final = Habit(
    begins_with=b"POST /v1/leases HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n",
    goes_on_with=b"1\r\n \r\n",
)
SILENT: Final = Habit(begins_with=b"", goes_on_with=b"")
HALF_WAY: Final = Habit(begins_with=IN_THE_BODY.begins_with, goes_on_with=b"")
HABITS: Final = (IN_THE_HEADERS, IN_THE_BODY, IN_A_CHUNK, SILENT)


def _begin(url: str, source: str, habit: Habit) -> socket.socket:
    at = urlsplit(url)
    there = at.hostname or "", at.port or 80
    connection = socket.create_connection(there, timeout=_CONNECT_SECONDS, source_address=(source, 0))
    # The first round detects connections that were refused.
    with suppress(OSError):
        connection.sendall(habit.begins_with)
    connection.setblocking(False)
    return connection


def _sends(connection: socket.socket, data: bytes) -> bool:
    """Return whether the server still accepts data and has not responded."""
    try:
        connection.sendall(data)
        connection.recv(1)
    except BlockingIOError:
        return True  # neither data nor the end of the connection
    except OSError:
        return False
    return False


class Crowd:
    """Slow clients, and the number of rounds in which each has sent data."""

    def __init__(self, clients: Sequence[tuple[socket.socket, Habit]]) -> None:
        self.rounds = 0
        self._clients = clients
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._dawdle, daemon=True)
        self._thread.start()

    @property
    def heard(self) -> int:
        """Return the number of clients that are still connected and have no response."""
        return len(self._clients)

    def end(self) -> None:
        """Stop the clients."""
        self._is_over.set()
        self._thread.join()

    def _dawdle(self) -> None:
        while not self._is_over.wait(_PAUSE_SECONDS):
            self._clients = [each for each in self._clients if _sends(each[0], each[1].goes_on_with)]
            self.rounds += 1


@contextmanager
def slow_clients(
    url: str, count: int, habits: Sequence[Habit] = HABITS, sources: Sequence[str] = ("127.0.0.1",)
) -> Iterator[Crowd]:
    """Yield this many slow clients, which use the habits and addresses in turn.

    They stop at the end of the block.
    """
    with files_allowed(count + _SPARE_FILES), ExitStack() as all_of_them:
        kinds = itertools.islice(zip(itertools.cycle(sources), itertools.cycle(habits), strict=False), count)
        crowd = Crowd(
            [(all_of_them.enter_context(_begin(url, source, habit)), habit) for source, habit in kinds]
        )
        try:
            yield crowd
        finally:
            crowd.end()


@contextmanager
def files_allowed(count: int) -> Iterator[None]:
    """Limit the open files of this process and of those that it starts, during the block."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
