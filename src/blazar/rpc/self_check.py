"""Check that this manager is reachable over the bus: it calls itself."""

from __future__ import annotations

import threading
from datetime import timedelta

import oslo_messaging

from blazar.ports.clock import Clock
from blazar.rpc.bus import make_client

_INTERVAL = timedelta(seconds=10)
_INTERVAL_IN_TROUBLE = timedelta(seconds=1)
_TIMEOUT_SECONDS = 5
_LONGEST_SILENCE = timedelta(seconds=45)


class SelfCheck:
    """Calls this manager periodically, in its own thread; :meth:`problems` returns the result without I/O.

    An answer shows that the broker is up, the server accepts requests, and a thread is free to answer.
    """

    def __init__(self, transport: oslo_messaging.Transport, topic: str, name: str, clock: Clock) -> None:
        """Create a check that is not started yet.

        Args:
            transport: The result of :func:`blazar.rpc.bus.get_transport`.
            topic: The topic that the managers serve.
            name: The name of this manager.
            clock: The clock for the pauses.
        """
        self._client = make_client(transport, topic, server=name)
        self._clock = clock
        self._lock = threading.Lock()
        self._answered_at = clock.now()
        self._problem = "the bus: this manager has not answered yet"
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="self-check", daemon=True)

    def start(self) -> None:
        """Start to check; the RPC server must already be started."""
        self._thread.start()

    def stop(self) -> None:
        """Stop checking; a call in progress is not interrupted."""
        self._stopping.set()

    def problems(self) -> tuple[str, ...]:
        """Return why this manager is not reachable, as text for operators; empty if it is."""
        with self._lock:
            silence = self._clock.now() - self._answered_at
            if silence > _LONGEST_SILENCE:
                return (f"the bus: no answer for {silence.total_seconds():.0f} s",)
            return (self._problem,) if self._problem else ()

    def _repeat(self) -> None:
        asking = self._client.prepare(timeout=_TIMEOUT_SECONDS, retry=0)
        while not self._stopping.is_set():
            problem = ""
            try:
                asking.call({}, "ping")
            except oslo_messaging.MessagingTimeout:
                problem = f"the bus: this manager did not answer in {_TIMEOUT_SECONDS} s"
            except Exception as error:
                problem = f"the bus: {type(error).__name__}"
            with self._lock:
                self._problem = problem
                if not problem:
                    self._answered_at = self._clock.now()
            self._clock.wait(self._stopping, _INTERVAL_IN_TROUBLE if problem else _INTERVAL)
