"""Deadlines for whole HTTP calls: connecting, sending, headers and body together, but not name resolution.

The timeouts of requests limit the time between two bytes, so a server that sends a byte from time to time can
block a thread forever. Here the connection is shut down at the deadline, which ends any call that waits on
it.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class DeadlineExceeded(OSError):
    """A call exceeded its deadline."""


class _Call:
    """A call of this thread and its present connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_over = False
        self.is_late = False

    def use(self, connected: socket.socket) -> None:
        """Register the connection to shut down at the deadline; a TLS handshake may still follow."""
        # Use a duplicated descriptor: TLS takes the socket over, and http.client may close it before the body
        # was read.
        twin = socket.socket(fileno=os.dup(connected.fileno()))
        with self._lock:
            self._drop()
            self._socket = twin
            if self.is_late:
                self._shut_down()

    def expire(self) -> None:
        """Shut the connection down, unless the call is over."""
        with self._lock:
            if not self._is_over:
                self.is_late = True
                self._shut_down()

    def end(self) -> None:
        """Mark the call as over, so that its connection is not shut down any more."""
        with self._lock:
            self._is_over = True
            self._drop()

    def _shut_down(self) -> None:
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # the peer has closed the connection already

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class _Present(threading.local):
    call: _Call | None = None


_present = _Present()


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End the HTTP calls of this thread inside the block after *seconds*.

    The calls must use :class:`DeadlineAdapter`. Blocks do not nest: an inner block has the deadline of the
    outer one.

    Raises:
        DeadlineExceeded: The deadline passed before the block ended; its results may be incomplete.
    """
    if _present.call is not None:
        yield
        return
    call = _Call()
    timer = threading.Timer(seconds, call.expire)
    timer.daemon = True
    timer.start()
    _present.call = call
    try:
        yield
    except Exception as error:
        if call.is_late:
            raise DeadlineExceeded(f"not finished within {seconds:g} s") from error
        raise
    finally:
        _present.call = None
        timer.cancel()
        call.end()
    if call.is_late:
        # A body without a length looks complete when its connection ends.
        raise DeadlineExceeded(f"not finished within {seconds:g} s")


class _Watched(HTTPConnection):
    """A connection that is shut down at the deadline of the present call."""

    def _new_conn(self) -> socket.socket:
        connected: socket.socket = super()._new_conn()
        if _present.call is not None:
            _present.call.use(connected)
        return connected

    def putrequest(self, *arguments: Any, **options: Any) -> None:
        """Start a request, on a new or a kept-alive connection."""
        if _present.call is not None and self.sock is not None:
            _present.call.use(self.sock)
        super().putrequest(*arguments, **options)


class _WatchedTls(_Watched, HTTPSConnection):
    """The same over TLS."""


class DeadlinePool(HTTPConnectionPool):
    """Connections to one server that obey :func:`deadline`."""

    ConnectionCls = _Watched


class DeadlineTlsPool(HTTPSConnectionPool):
    """The same over TLS."""

    ConnectionCls = _WatchedTls


class DeadlineAdapter(HTTPAdapter):
    """Adapter whose connections obey :func:`deadline`, including those to proxies."""

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Create the connection pools."""
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": DeadlinePool, "https": DeadlineTlsPool}

    def proxy_manager_for(self, *arguments: Any, **options: Any) -> Any:
        """Return the connection pools to a proxy."""
        found = super().proxy_manager_for(*arguments, **options)
        found.pool_classes_by_scheme = {"http": DeadlinePool, "https": DeadlineTlsPool}
        return found
