"""Options into settings."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from oslo_config import cfg

from blazar import config
from blazar.cmd.flags import FLAGS, IDLE_IN_MANAGER, warn_of_flags
from blazar.known_options import check_keys, unknown_keys
from blazar.manager.plugins import load_plugins
from blazar.plugins.floatingips.settings import FloatingIPSettings
from blazar.plugins.hosts.options import read_notification_source
from blazar.plugins.hosts.settings import HostSettings, MonitorSettings
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
    assert settings.of(HostSettings).availability_zone_prefix == "reserved-"
    assert settings.of(HostSettings).before_end == "snapshot"
    assert settings.leases.randomize_selection
    assert settings.of(HostSettings).freepool_name == "pool"
    assert settings.of(HostSettings).owner_key == "owner"
    assert settings.of(HostSettings).image_prefix == "kept_"
    assert not settings.of(HostSettings).az_aware


def test_options_are_understood_in_the_groups_where_they_once_were(tmp_path: Path) -> None:
    host_options = "[physical:host]\naggregate_freepool_name = pool\nblazar_owner = owner\n"
    old = f"[DEFAULT]\nimage_prefix = kept_\n{host_options}"

    hosts = config.read_settings(_conf(tmp_path, old)).of(HostSettings)

    assert (hosts.image_prefix, hosts.freepool_name, hosts.owner_key) == ("kept_", "pool", "owner")


def test_the_defaults_of_options_and_of_settings_are_the_same(tmp_path: Path) -> None:
    settings = config.read_settings(_conf(tmp_path, ""))

    assert settings == Settings(own=tuple(type(each)() for each in settings.own))
    assert settings.own


def test_weakness_30_what_must_not_be_logged_is_marked_secret() -> None:
    options = {each.name: each for _, group in config.list_opts() for each in group}
    secret = {name for name in options if any(word in name for word in ("password", "token", "secret"))}

    assert {name for name in secret if not options[name].secret} == set()
    assert "os_admin_password" in secret
    assert "log_exchange" not in options


def test_weakness_58_the_default_plugins_are_real_ones(tmp_path: Path) -> None:
    conf = _conf(tmp_path, "")

    plugins = load_plugins(conf.manager.plugins, config.read_settings(conf))

    assert plugins.keys() == {"physical:host", "virtual:instance", "flavor:instance", "virtual:floatingip"}


def test_floating_ips_are_checked_as_often_as_is_said(tmp_path: Path) -> None:
    text = "[virtual:floatingip]\ncheck_interval_minutes = {}\n"
    intervals = [
        config.read_settings(_conf(tmp_path, each)).of(FloatingIPSettings).check_interval
        for each in ("", text.format(3), text.format(0))
    ]

    assert intervals == [timedelta(minutes=10), timedelta(minutes=3), timedelta(0)]


def test_properties_that_follow_from_aggregates_have_patterns(tmp_path: Path) -> None:
    text = "[physical:host]\naggregate_properties = rack:rack-*, row:row-?\n"

    found = config.read_settings(_conf(tmp_path, text)).of(HostSettings)

    assert found.aggregate_properties == {"rack": "rack-*", "row": "row-?"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("vcpus:rack-*", "aggregate_properties: vcpus: is read from Nova"),
        ("rack:", "aggregate_properties: rack: needs a pattern"),
        (f"{'x' * 65}:rack-*", "a property must have 1 to 64 characters"),
    ],
)
def test_an_unusable_aggregate_property_is_refused(tmp_path: Path, value: str, message: str) -> None:
    conf = _conf(tmp_path, f"[physical:host]\naggregate_properties = {value}\n")

    with pytest.raises(ValueError, match=message):
        config.read_settings(conf)


def test_grace_periods_are_given_by_resource_type(tmp_path: Path) -> None:
    text = (
        "[usage_records]\nno_show_grace_minutes = physical:host=240,virtual:instance=120\n"
        "no_show_exempt_projects = p1,p2\n"
    )

    usage = config.read_settings(_conf(tmp_path, text)).usage

    hours = {key: each / timedelta(hours=1) for key, each in usage.no_show_grace.items()}
    assert hours == {"physical:host": 4, "virtual:instance": 2}
    assert usage.no_show_exempt == {"p1", "p2"}


def test_the_limits_of_feeds_are_read_with_their_units(tmp_path: Path) -> None:
    names = ("max_per_project", "max_age_days", "past_days", "cancelled_days", "availability_days")
    more = ("reads_per_hour", "unknown_per_hour")
    text = "\n".join(f"{name} = {number}" for number, name in enumerate((*names, *more), 1))

    found = config.read_settings(_conf(tmp_path, f"[feeds]\n{text}\n"))

    days = [timedelta(days=each) for each in (2, 3, 4, 5)]
    feeds, api = found.feeds, found.api
    assert feeds.per_project == 1
    assert [feeds.longest_age, feeds.past, feeds.cancelled, feeds.ahead] == days
    assert (api.feed_reads_per_hour, api.unknown_feeds_per_hour) == (6, 7)


def test_the_defaults_of_feeds_are_those_of_the_settings(tmp_path: Path) -> None:
    found, default = config.read_settings(_conf(tmp_path, "")), Settings()

    assert found.feeds == default.feeds
    assert found.api.feed_reads_per_hour == default.api.feed_reads_per_hour
    assert found.api.unknown_feeds_per_hour == default.api.unknown_feeds_per_hour


def test_every_option_says_what_it_is_for() -> None:
    for _, options in config.list_opts():
        for option in options:
            assert option.help, option.name
            assert option.help.endswith("."), option.name


def test_the_monitors_of_the_existing_service_are_understood(tmp_path: Path) -> None:
    text = """
[physical:host]
enable_notification_monitor = true
notification_topics = versioned_notifications
enable_polling_monitor = true
polling_interval = 20
"""
    conf = _conf(tmp_path, text)

    monitor = config.read_settings(conf).of(MonitorSettings)
    source = read_notification_source(conf)

    assert (monitor.is_listening, monitor.is_polling, monitor.is_enabled) == (True, True, True)
    assert monitor.polling_interval == timedelta(seconds=20)
    assert (source.topics, source.exchange, source.pool) == (
        ("versioned_notifications",),
        "nova",
        "blazar-monitor",
    )


def test_no_monitor_is_enabled_by_default(tmp_path: Path) -> None:
    conf = _conf(tmp_path, "")

    assert not config.read_settings(conf).of(MonitorSettings).is_enabled
    assert read_notification_source(conf).topics == (
        "notifications",
        "versioned_notifications",
    )


def test_keys_of_the_existing_service_without_a_meaning_are_accepted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = EXISTING.replace("[DEFAULT]", "[DEFAULT]\nlog_exchange = true\ndb_driver = x")

    check_keys(_conf(tmp_path, f"{text}[api]\napi_v2_controllers = oshosts,leases\n"))

    said = "\n".join(caplog.messages)
    for name in ("log_exchange", "db_driver", "api_v2_controllers", "event_max_retries"):
        assert f"option={name}" in said


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("[quotas]\nenabeld = true", "enabled"),
        ("[DEFAULT]\ncleaning_tme = 5", "cleaning_time"),
        ("[DEFAULT]\nos-admin-user = x", "os_admin_username"),
        ("[physical:host]\nblazar_az_prefx = x", "blazar_az_prefix"),
        ("[nova]\nagregate_freepool_name = x", "aggregate_freepool_name"),
        ("[keystone]\nusernam = x", "username"),
        ("[software:licence]\nendpoit = x", "endpoint"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(
    tmp_path: Path, text: str, nearest: str
) -> None:
    conf = _conf(tmp_path, text)
    conf.register_opts([cfg.StrOpt("endpoint")], group="software:licence")

    with pytest.raises(ValueError, match=f"blazar.conf: .* did you mean {nearest}[?]"):
        check_keys(conf, plugin_groups=["software:licence"])


def test_keys_in_folders_of_configuration_are_checked_too(tmp_path: Path) -> None:
    (tmp_path / "more.conf").write_text("[quotas]\nenabeld = true\n")
    conf = config.make_conf(["--config-dir", str(tmp_path)], "test", config_files=[])

    assert [each.partition(":")[0] for each in unknown_keys(conf)] == [str(tmp_path / "more.conf")]


def test_keys_of_libraries_and_foreign_groups_are_left_to_them(tmp_path: Path) -> None:
    text = (
        "[DEFAULT]\ndebug = true\nlog-dir = x\nrpc_conn_pool_size = 3\n[oslo_messaging_rabbit]\nx = y\n"
        "[nova]\nauth_type = v3applicationcredential\napplication_credential_id = x\nconnect_retries = 3\n"
        "[neutron]\nendpoint_type = internal\n[physical:host]\nblazar_owner = x\n"
    )

    check_keys(_conf(tmp_path, text))


def test_programs_without_messages_know_the_options_of_the_message_bus(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "[DEFAULT]\ntransport_url = rabbit://\nrpc_response_timeout = 40\nother_library = x\n"

    check_keys(_conf(tmp_path, text))

    assert [each.partition("option=")[2] for each in caplog.messages] == ["other_library"]


def test_flags_of_the_existing_service_are_accepted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    arguments = ["--host", "10.0.0.1", "--port", "1", "--log_exchange", "--os_region_name", "one"]

    conf = config.make_conf(arguments, "test", config_files=[], cli_options=FLAGS)
    warn_of_flags(conf, IDLE_IN_MANAGER)

    assert (conf.host, conf.port, conf.os_region_name) == ("10.0.0.1", 1, "one")
    assert [each.partition("flag=")[2] for each in caplog.messages] == ["--host", "--log_exchange", "--port"]


def test_the_region_needs_no_configuration_of_a_cloud(tmp_path: Path) -> None:
    conf = _conf(tmp_path, "[DEFAULT]\nos_region_name = north\n")

    assert config.read_settings(conf).region == "north"
    assert config.read_settings(_conf(tmp_path, "")).region is None
