"""Whether this manager can be reached over the bus: it asks itself."""

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
    """Asks again and again, in a thread of its own; :meth:`problems` says what came of it, and asks nobody.

    That it is answered says that the broker lives, that the server takes requests, and that it has a thread
    left to answer with.
    """

    def __init__(self, transport: oslo_messaging.Transport, topic: str, name: str, clock: Clock) -> None:
        """Make a check that is not started yet.

        Args:
            transport: From :func:`blazar.rpc.bus.get_transport`.
            topic: That the managers serve.
            name: This manager's own.
            clock: For the pauses.
        """
        self._client = make_client(transport, topic, server=name)
        self._clock = clock
        self._lock = threading.Lock()
        self._answered_at = clock.now()
        self._problem = "the bus: this manager has not answered yet"
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="self-check", daemon=True)

    def start(self) -> None:
        """Begin to ask; the RPC server must have been started."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more; a question that is under way is left alone."""
        self._stopping.set()

    def problems(self) -> tuple[str, ...]:
        """Return why this manager cannot be reached, in words for an operator; empty if it can."""
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
