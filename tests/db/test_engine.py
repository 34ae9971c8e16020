"""How connections are set up."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from databases import make_empty_database


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_a_thread_goes_on_after_a_transaction(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    naps: list[float] = []
    with make_empty_database(kind, tmp_path) as engine:
        monkeypatch.setattr("time.sleep", naps.append)

        with engine.begin() as connection:
            connection.execute(sa.text("SELECT 1"))

    assert naps == []
