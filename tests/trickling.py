"""Servers that send their answer a byte at a time and never finish it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

IN_THE_HEADERS = b"HTTP/1.1 200 OK\r\nX-Slow: "
IN_THE_BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
IN_A_BODY_WITHOUT_LENGTH = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
HABITS = (IN_THE_HEADERS, IN_THE_BODY, IN_A_BODY_WITHOUT_LENGTH)
_PAUSE_SECONDS = 0.02


@contextmanager
def trickling(beginning: bytes) -> Iterator[str]:
    """Yield the URL of a server whose answers begin so, and go on with spaces as long as the test lasts."""
    is_over = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(beginning)
            while not is_over.wait(_PAUSE_SECONDS):
                connection.sendall(b" ")

    def accept(server: socket.socket, threads: list[threading.Thread]) -> None:
        with suppress(OSError):
            while not is_over.is_set():
                threads.append(threading.Thread(target=serve, args=(server.accept()[0],)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threads: list[threading.Thread] = []
        accepting = threading.Thread(target=accept, args=(server, threads))
        accepting.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            is_over.set()
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for each in threads:
                each.join()
