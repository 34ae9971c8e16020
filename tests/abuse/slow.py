"""Clients that send a byte now and then, and never all of a request."""

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
    """How a client dawdles."""

    begins_with: bytes
    goes_on_with: bytes


IN_THE_HEADERS: Final = Habit(
    begins_with=b"GET /v1/leases HTTP/1.1\r\nHost: x\r\nX-Slow: ", goes_on_with=b"x"
)
IN_THE_BODY: Final = Habit(
    begins_with=b"POST /v1/leases HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100000\r\n\r\n" + b" " * 50_000,
    goes_on_with=b" ",
)
IN_A_CHUNK: Final = Habit(
    begins_with=b"POST /v1/leases HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
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
    # Who is not let in is found out in the first round.
    with suppress(OSError):
        connection.sendall(habit.begins_with)
    connection.setblocking(False)
    return connection


def _sends(connection: socket.socket, data: bytes) -> bool:
    """Return whether somebody still listens, and has not answered."""
    try:
        connection.sendall(data)
        connection.recv(1)
    except BlockingIOError:
        return True  # Nothing has come, not even the end.
    except OSError:
        return False
    return False


class Crowd:
    """Clients, and how often each of them has sent something."""

    def __init__(self, clients: Sequence[tuple[socket.socket, Habit]]) -> None:
        self.rounds = 0
        self._clients = clients
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._dawdle, daemon=True)
        self._thread.start()

    @property
    def heard(self) -> int:
        """Return how many of them are still listened to, and have not been answered."""
        return len(self._clients)

    def end(self) -> None:
        """Have them stop."""
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
    """Yield as many clients, which dawdle after these habits, and from these addresses, in turn.

    They do until the block ends.
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
    """Allow this process, and those that it starts, to have so many files open, during the block."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
