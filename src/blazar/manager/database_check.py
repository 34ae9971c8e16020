"""Check whether the database of this manager answers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import sqlalchemy as sa

_INTERVAL_SECONDS = 1.0
_PATIENCE_SECONDS = 3.0

_logger = logging.getLogger(__name__)


class DatabaseCheck:
    """Queries the database every second, in its own thread, and reports whether it answers.

    Managers may use different servers of a cluster, so one may have no database while the others have.
    """

    def __init__(self, engine: sa.Engine, report: Callable[[bool], object]) -> None:
        """Create a check that is not started yet.

        Args:
            engine: The database.
            report: Called after each query with whether it was answered, and with False if a query is not
                answered for three seconds.
        """
        self._engine, self._report = engine, report
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="database-check", daemon=True)

    def start(self) -> None:
        """Start to check."""
        self._thread.start()

    def stop(self) -> None:
        """Stop checking; a query in progress is not interrupted."""
        self._stopping.set()

    def _repeat(self) -> None:
        while not self._stopping.wait(_INTERVAL_SECONDS):
            late = threading.Timer(_PATIENCE_SECONDS, self._tell, [False])
            late.daemon = True
            late.start()
            answers = self._answers()
            late.cancel()
            self._tell(answers)

    def _answers(self) -> bool:
        try:
            with self._engine.connect() as connection:
                return bool(connection.scalar(sa.select(1)))
        except Exception as error:
            # Any error: drivers have many for a server that cannot be used.
            _logger.info("the database does not answer: reason=%s", error)
            return False

    def _tell(self, answers: bool) -> None:
        if not self._stopping.is_set():
            self._report(answers)
