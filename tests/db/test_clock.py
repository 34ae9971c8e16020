"""The database's clock, on each kind of database."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from oslo_db.sqlalchemy import exc_filters

from blazar.db.clock import SqlClock
from blazar.domain.errors import Unavailable
from blazar.manager.clocks import SystemClock

SECOND = timedelta(seconds=1)


def test_on_one_machine_both_clocks_say_the_same(engine: sa.Engine) -> None:
    reading = SqlClock(engine).compare(SystemClock())

    assert reading.there.utcoffset() == timedelta(0)
    # SQLite has milliseconds only.
    assert reading.before - SECOND / 500 <= reading.there <= reading.after + SECOND / 500
    assert abs(reading.difference) <= reading.uncertainty + SECOND / 500


def test_a_database_that_does_not_answer_is_said_to_be_away() -> None:
    engine = sa.create_engine("mysql+pymysql://root@127.0.0.1:1/none")
    exc_filters.register_engine(engine)

    with pytest.raises(Unavailable):
        SqlClock(engine).compare(SystemClock())
