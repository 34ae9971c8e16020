"""Notices by the channels of a configuration, to a real mail server and a real receiver of webhooks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from app.http_env import LESSEE, NEWER, HttpEnv, Json, good, refusal
from channels.post_office import open_post_office
from channels.receiver import receiving, verified
from oslo_config import cfg

from blazar import config
from blazar.manager.channels import make_notice_sender
from blazar.manager.plugins import PluginError
from blazar.reconcile.notices import NoticeSender

Configure = Callable[[str], NoticeSender]
RECEIVABLE = "webhook_http_allowed = true\nwebhook_ports =\nwebhook_allowed_networks = 127.0.0.0/8"


def read(folder: Path, options: str) -> cfg.ConfigOpts:
    path = folder / "notices.conf"
    path.write_text(f"[notices]\n{options}\n")
    return config.make_conf([], "blazar-manager", config_files=[str(path)])


@pytest.fixture
def configure(env: HttpEnv, tmp_path: Path) -> Configure:
    """Return a function that restarts the service with options of notices, and returns what delivers them."""

    def restart(options: str) -> NoticeSender:
        conf = read(tmp_path, options)
        notices = config.read_settings(conf).notices
        env.restart(replace(env.context, settings=replace(env.settings, notices=notices)))
        return make_notice_sender(conf, env.context)

    env.register("h1")
    return restart


def subscribe(env: HttpEnv, **keys: object) -> Json:
    found: Json = good(env.post("/subscriptions", keys, who=LESSEE, headers=NEWER), 201)["subscription"]
    return found


def test_a_webhook_is_called_again_after_a_failure(env: HttpEnv, configure: Configure) -> None:
    sender = configure(f"channels = webhook\n{RECEIVABLE}")
    with receiving(500, 200) as receiver:
        made = subscribe(env, kind="webhook", url=receiver.url)
        lease = env.create(10, 20)
        sender.send_due()
        env.clock.advance(env.context.settings.notices.longest_pause)
        sender.send_due()
        assert sender.send_due() == 0

    first, second = receiver.received
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]
    assert verified(receiver.received, made["secret"])
    told = json.loads(first.body)
    assert (told["type"], told["data"]["lease"]["id"]) == ("lease.created", lease["id"])


def test_without_an_exception_loopback_is_not_called(env: HttpEnv, configure: Configure) -> None:
    sender = configure("channels = webhook\nwebhook_http_allowed = true\nwebhook_ports =")
    with receiving() as receiver:
        refused = env.post(
            "/subscriptions", {"kind": "webhook", "url": receiver.url}, who=LESSEE, headers=NEWER
        )
        url = receiver.url.replace("127.0.0.1", "localhost")
        made = subscribe(env, kind="webhook", url=url)
        env.create(10, 20)
        sender.send_due()

    assert "address 127.0.0.1 is not allowed here" in refusal(refused, 400)
    assert receiver.received == []
    shown = good(env.get(f"/subscriptions/{made['id']}", who=LESSEE, headers=NEWER))["subscription"]
    assert shown["problem"] == "the host has no address that may be called from here"


def test_mail_goes_to_the_address_in_keystone(env: HttpEnv, configure: Configure) -> None:
    env.cloud.add_user("user", "user@example.org")
    with open_post_office() as office:
        sender = configure(
            f"channels = mail\nmail_server = 127.0.0.1\nmail_port = {office.port}\nmail_security = none\n"
            "mail_sender = Reservations <noreply@cloud.example.org>\ntime_zone = Europe/Berlin"
        )
        subscribe(env, kind="mail")
        env.create(10, 20)
        sender.send_due()

    (message,) = office.received
    assert office.recipients == ["user@example.org"]
    assert message["Subject"] == "Lease night was created"
    assert "2031-01-01 01:10 CET" in str(message.get_body(preferencelist=("plain",)))


def test_no_channel_delivers_nothing(env: HttpEnv, configure: Configure) -> None:
    sender = configure("")

    env.create(10, 20)

    assert sender.send_due() == 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("channels = mail", r"\[notices\] mail_server: must be set for the channel mail"),
        ("channels = mail\nmail_server = a", r"\[notices\] mail_sender: must be set"),
        (
            "channels = mail\nmail_server = a\nmail_sender = nothing",
            r"\[notices\] mail_sender: must be an a",
        ),
        ("channels = webhook\nwebhook_cafile = none.pem", r"\[notices\] webhook_cafile: file none.pem"),
        (
            "channels = mail\nmail_server = a\nmail_sender = a@b.org\nmail_cafile = none.pem",
            r"\[notices\] mail_cafile: file none.pem",
        ),
    ],
)
def test_an_incomplete_configuration_is_refused(configure: Configure, options: str, problem: str) -> None:
    with pytest.raises(PluginError, match=problem):
        configure(options)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("channels = pigeon", "channels"),
        ("default_events = resources.low", "default_events"),
        ("webhook_allowed_networks = 10.0.0.0/33", "webhook_allowed_networks"),
        ("webhook_ports = 70000", "webhook_ports"),
        ("time_zone = Mars/Olympus", "time_zone: there is no time zone Mars/Olympus"),
        ("language = de", "language: there are templates for en only"),
        ("template_folder = nowhere", "template_folder: nowhere: No such file"),
    ],
)
def test_an_invalid_value_is_refused(tmp_path: Path, options: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        config.read_settings(read(tmp_path, options))


def test_a_template_with_an_error_stops_the_start(configure: Configure, tmp_path: Path) -> None:
    (tmp_path / "templates" / "de").mkdir(parents=True)
    (tmp_path / "templates" / "de" / "subject.txt").write_text("{% if %}")

    with pytest.raises(PluginError, match=r"\[notices\] template_folder: template de/subject.txt: "):
        configure(
            "channels = mail\nmail_server = a\nmail_sender = a@b.org\n"
            f"language = de\ntemplate_folder = {tmp_path / 'templates'}"
        )
