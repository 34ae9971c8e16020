"""What is said to the database when a connection is taken from the pool or given back.

A create is two transactions of some ten statements, and a round trip costs both sides work, whatever is said.
So nothing is said from which nothing can be learned.
"""

from __future__ import annotations

import time
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.dialects import plugins

PLUGIN: Final = "blazar"
"""In a URL, ``plugin=blazar`` has an engine's pool as it is here; oslo.db can be told in no other way."""
ALIVE_SECONDS: Final = 0.1
"""Whoever was answered by the database so lately goes on without asking whether it is still there.

No server comes back in less, so that hardly anybody meets a connection that ended with the one before."""
_ANSWERED_AT: Final = "blazar_answered_at"


class SilentPool(sa.CreateEnginePlugin):
    """Has an engine ask for signs of life only after a silence, and MariaDB not roll back what has ended.

    A connection that ends just then is met by the next statement, as it is in the middle of a transaction;
    then the pool gives up all connections it has. What was given back last is taken first, so that under load
    few connections fall silent.
    """

    def __init__(self, url: sa.URL, kwargs: dict[str, Any]) -> None:
        """Change what the engine is going to be made with."""
        super().__init__(url, kwargs)
        kwargs["pool_pre_ping"] = False
        kwargs["pool_use_lifo"] = True
        if url.get_driver_name() == "pymysql":
            # SQLAlchemy's connections end their transactions themselves. Psycopg knows when there is none;
            # PyMySQL would send it.
            kwargs["pool_reset_on_return"] = None

    def update_url(self, url: sa.URL) -> sa.URL:
        """Return the URL as it is: it says nothing else for this."""
        return url

    def engine_created(self, engine: sa.Engine) -> None:
        """Listen to its pool."""
        sa.event.listen(engine, "connect", _note_answer)
        sa.event.listen(engine, "checkin", _note_answer)

        @sa.event.listens_for(engine, "checkout")
        def ask(connection: Any, record: Any, proxy: object) -> None:
            if time.monotonic() - record.info[_ANSWERED_AT] < ALIVE_SECONDS:
                return
            try:
                engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error as error:
                # The pool makes another connection, and gives up those that are as old as this one.
                raise exc.InvalidatePoolError() from error


def _note_answer(connection: object, record: Any) -> None:
    record.info[_ANSWERED_AT] = time.monotonic()


plugins.register(PLUGIN, __name__, SilentPool.__name__)
