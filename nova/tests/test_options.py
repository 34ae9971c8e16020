"""The options in nova.conf."""

from __future__ import annotations

from pathlib import Path

import pytest
from oslo_config import cfg

from blazarnova import options
from blazarnova.scheduler.filters.decision import FilterSettings


def test_the_defaults_are_those_of_blazar() -> None:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])

    assert options.read(conf) == FilterSettings()


def test_options_are_read_from_their_group_and_may_be_read_again(tmp_path: Path) -> None:
    file = tmp_path / "nova.conf"
    file.write_text(
        "[blazar:physical:host]\n"
        "aggregate_freepool_name = idle\n"
        "blazar_owner = owner\n"
        "blazar_az_prefix = res-\n"
        "allow_preemptibles = true\n"
        "preemptible_aggregate = spot\n"
        "allow_preemptibles_on_ordinary_hosts = true\n",
        encoding="utf-8",
    )
    conf = cfg.ConfigOpts()
    conf(["--config-file", str(file)])

    settings = options.read(conf)

    assert settings == options.read(conf)
    assert settings == FilterSettings(
        freepool_name="idle",
        owner_key="owner",
        availability_zone_prefix="res-",
        allow_preemptibles=True,
        preemptible_aggregate="spot",
        allow_preemptibles_on_ordinary_hosts=True,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("aggregate_freepool_name", ""),
        ("blazar_owner", ""),
        ("blazar_az_prefix", ""),
        ("allow_preemptibles", "maybe"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_the_name_of_its_option(
    tmp_path: Path, name: str, value: str
) -> None:
    file = tmp_path / "nova.conf"
    file.write_text(f"[blazar:physical:host]\n{name} = {value}\n", encoding="utf-8")
    conf = cfg.ConfigOpts()
    conf(["--config-file", str(file)])

    with pytest.raises(cfg.ConfigFileValueError, match=f"option {name} .*nova.conf"):
        options.read(conf)


def test_all_options_are_listed_for_the_sample_file() -> None:
    ((group, listed),) = options.list_opts()

    assert group == "blazar:physical:host"
    assert {option.name for option in listed} >= {"aggregate_freepool_name", "project_id_key"}
