"""A manager's preparations before its first request."""

from __future__ import annotations

import gc

from app.http_env import HttpEnv

from blazar.manager.build import warm_up


def test_what_is_loaded_before_the_first_request_is_no_work_for_the_garbage_collector(env: HttpEnv) -> None:
    assert gc.get_freeze_count() == 0

    try:
        warm_up(env.context)

        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
