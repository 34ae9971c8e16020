"""A manager's preparations before its first request."""

from __future__ import annotations

import gc

from app.http_env import HttpEnv

from blazar.manager.build import warm_up


def test_what_is_loaded_before_the_first_request_is_no_work_for_the_garbage_collector(env: HttpEnv) -> None:
    # Processes that run tests have frozen what they imported, and continue with what is frozen here.
    gc.unfreeze()
    assert gc.get_freeze_count() == 0

    warm_up(env.context)

    assert gc.get_freeze_count() > 0
