"""Options into settings."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from oslo_config import cfg

from blazar import config
from blazar.settings import Settings

EXISTING = """
[DEFAULT]
auth_strategy = keystone
cleaning_time = 15
os_admin_username = blazar
[manager]
plugins = physical.host.plugin
minutes_before_end_lease = 0
event_max_retries = 3
[physical:host]
blazar_az_prefix = reserved-
before_end = snapshot
randomize_host_selection = true
[nova]
aggregate_freepool_name = pool
blazar_owner = owner
image_prefix = kept_
az_aware = false
"""


def _conf(tmp_path: Path, text: str) -> cfg.ConfigOpts:
    path = tmp_path / "blazar.conf"
    path.write_text(text)
    return config.make_conf([], "test", config_files=[str(path)])


def test_a_configuration_of_the_existing_service_is_understood(tmp_path: Path) -> None:
    settings = config.read_settings(_conf(tmp_path, EXISTING))

    assert settings.leases.cleaning_time == timedelta(minutes=15)
    assert settings.leases.before_end_lead == timedelta(0)
    assert settings.hosts.availability_zone_prefix == "reserved-"
    assert settings.hosts.before_end == "snapshot"
    assert settings.hosts.randomize_selection
    assert settings.hosts.freepool_name == "pool"
    assert settings.hosts.owner_key == "owner"
    assert settings.hosts.image_prefix == "kept_"
    assert not settings.hosts.az_aware
    assert settings.api.resource_types == {"physical:host"}


def test_options_are_understood_in_the_groups_where_they_once_were(tmp_path: Path) -> None:
    host_options = "[physical:host]\naggregate_freepool_name = pool\nblazar_owner = owner\n"
    old = f"[DEFAULT]\nimage_prefix = kept_\n{host_options}"

    hosts = config.read_settings(_conf(tmp_path, old)).hosts

    assert (hosts.image_prefix, hosts.freepool_name, hosts.owner_key) == ("kept_", "pool", "owner")


def test_the_defaults_of_options_and_of_settings_are_the_same(tmp_path: Path) -> None:
    assert config.read_settings(_conf(tmp_path, "")) == Settings()


def test_without_the_host_plugin_hosts_are_not_served(tmp_path: Path) -> None:
    settings = config.read_settings(_conf(tmp_path, "[manager]\nplugins = other.plugin\n"))

    assert settings.api.resource_types == frozenset()


def test_every_option_says_what_it_is_for() -> None:
    for _, options in config.list_opts():
        for option in options:
            assert option.help, option.name
            assert option.help.endswith("."), option.name
