"""Storage pools that the periodic check registers automatically."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from app.http_env import NEWER, HttpEnv, Json, good
from app.storage import FAST, SLOW, Storage, make_storage

from blazar.domain.errors import CloudUnavailable
from blazar.plugins.volumes.check import check_pools
from blazar.plugins.volumes.settings import VolumeSettings


def discovering(engine: sa.Engine, folder: Path, names: str = "*") -> Storage:
    return make_storage(engine, folder, VolumeSettings(discovers_pools=True, discovered_names=names))


@pytest.fixture
def storage(engine: sa.Engine, tmp_path: Path, failures: list[str]) -> Storage:
    return discovering(engine, tmp_path)


@pytest.fixture
def env(storage: Storage) -> HttpEnv:
    return storage.env


def registered(env: HttpEnv) -> dict[str, int]:
    found: list[Json] = good(env.get("/storage-pools", headers=NEWER))["storage_pools"]
    return {each["name"]: each["amounts"]["GIBIBYTES"] for each in found}


def test_pools_are_registered_with_what_others_have_not_allocated(env: HttpEnv, storage: Storage) -> None:
    env.cloud.add_volume_type("earlier", {"volume_backend_name": "fast"})
    volume = env.cloud.create_volume("other", 30, "earlier")
    (earlier,) = env.cloud.block_storage.list_types()
    env.cloud.change_volume_type(earlier.id, {"volume_backend_name": "elsewhere"})

    check_pools(env.context, "test")

    assert volume.pool == FAST
    assert registered(env) == {FAST: 70, SLOW: 100}


def test_leases_use_them_at_once(env: HttpEnv, storage: Storage) -> None:
    check_pools(env.context, "test")

    lease = storage.create(gibibytes=100, amount=2)

    assert env.status(lease) == "ACTIVE"


def test_registered_pools_stay_as_they_are(env: HttpEnv, storage: Storage) -> None:
    (pool,) = storage.register(FAST, gibibytes=10, rack="r1")

    assert check_pools(env.context, "test") == {}
    env.cloud.remove_storage_pool(SLOW)
    check_pools(env.context, "test")

    assert registered(env) == {FAST: 10, SLOW: 100}
    shown = good(env.get(f"/storage-pools/{pool['id']}", headers=NEWER))["storage_pool"]
    assert shown["rack"] == "r1"


def test_names_that_do_not_match_are_left_out(engine: sa.Engine, tmp_path: Path) -> None:
    storage = discovering(engine, tmp_path, "*@fast#*")

    check_pools(storage.env.context, "test")

    assert registered(storage.env) == {FAST: 100}


def test_pools_that_others_may_use_are_left_out(env: HttpEnv, storage: Storage) -> None:
    env.cloud.add_volume_type("__DEFAULT__")

    check_pools(env.context, "test")

    assert registered(env) == {}


def test_pools_without_a_known_capacity_are_left_out(env: HttpEnv, storage: Storage) -> None:
    env.cloud.add_storage_pool("block1@endless#any", None)

    check_pools(env.context, "test")

    assert registered(env) == {FAST: 100, SLOW: 100}


def test_nothing_is_registered_unless_the_operator_wants_it(engine: sa.Engine, tmp_path: Path) -> None:
    storage = make_storage(engine, tmp_path)

    check_pools(storage.env.context, "test")

    assert registered(storage.env) == {}
    assert storage.env.cloud.calls == {}


def test_a_cinder_that_does_not_answer_changes_nothing(env: HttpEnv, storage: Storage) -> None:
    with env.failing("block_storage.list_types"), pytest.raises(CloudUnavailable):
        check_pools(env.context, "test")

    assert registered(env) == {}


def test_two_managers_register_a_pool_once(env: HttpEnv, storage: Storage) -> None:
    def meanwhile() -> None:
        if not registered(env):
            storage.register(FAST)

    check_pools(env.context, "test", check_claim=meanwhile)

    assert registered(env) == {FAST: 100, SLOW: 100}
