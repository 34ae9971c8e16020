"""Notifications as a consumer receives them from a real broker."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from broker import broker_connection, broker_url
from oslo_config import cfg
from programs import free_port, wait_until
from wires import Wire

from blazar import config
from blazar.domain.errors import Unavailable
from blazar.rpc.notifications import BusNotifier
from blazar.telemetry.log_context import arriving

PAYLOAD = {"lease_id": "l1", "name": "ü", "degraded": False, "reservations": [{"min": 1}]}


@pytest.fixture
def topic() -> str:
    return f"blazar-test-{uuid.uuid4().hex}"


@pytest.fixture
def make_conf(tmp_path: Path, topic: str) -> Iterator[Callable[..., cfg.ConfigOpts]]:
    """Return a function that makes a configuration for the broker at a URL."""
    path = tmp_path / "blazar.conf"
    cfg.CONF.reset()

    def make(url: str, driver: str = "messagingv2") -> cfg.ConfigOpts:
        path.write_text(
            f"[DEFAULT]\ntransport_url = {url}\n"
            f"[oslo_messaging_notifications]\ndriver = {driver}\ntopics = {topic}\n"
        )
        return config.make_conf([], "test", config_files=[str(path)], conf=cfg.CONF)

    yield make
    cfg.CONF.reset()


@pytest.fixture
def conf(make_conf: Callable[..., cfg.ConfigOpts]) -> cfg.ConfigOpts:
    return make_conf(broker_url())


def test_a_consumer_gets_type_publisher_and_payload_and_no_token(conf: cfg.ConfigOpts, topic: str) -> None:
    notifier = BusNotifier(conf, "blazar.lease")
    with broker_connection() as connection, arriving("req-1", None):
        channel = connection.channel()
        notifier.notify("lease.create", PAYLOAD)
        got: list[Any] = []

        def get() -> bool:
            message = channel.basic_get(f"{topic}.info", no_ack=True)
            got.extend([] if message is None else [json.loads(json.loads(message.body)["oslo.message"])])
            return bool(got)

        assert wait_until(get)
        channel.queue_delete(f"{topic}.info")

    (message,) = got
    assert message["event_type"] == "lease.create"
    assert message["publisher_id"] == "blazar.lease"
    assert message["priority"] == "INFO"
    assert message["payload"] == PAYLOAD
    assert message.keys() == {
        "message_id",
        "publisher_id",
        "event_type",
        "priority",
        "payload",
        "timestamp",
        "_unique_id",
    }, "a context and its contents would be further keys"


def test_a_notification_fails_at_once_while_no_broker_listens(make_conf: Any) -> None:
    notifier = BusNotifier(make_conf(f"rabbit://guest:guest@127.0.0.1:{free_port()}/"), "blazar.lease")

    for _ in range(2):
        with pytest.raises(Unavailable, match="The message bus cannot be reached"):
            notifier.notify("lease.create", PAYLOAD)


@pytest.mark.usefixtures("abandoned_threads")
def test_a_notification_fails_in_bounded_time_if_the_broker_goes_away(
    make_conf: Any, wire: Wire, topic: str
) -> None:
    credentials = broker_url().split("://")[1].rsplit("@", 1)[0]
    notifier = BusNotifier(
        make_conf(f"rabbit://{credentials}@127.0.0.1:{wire.port}/"), "blazar.lease", wait_seconds=8
    )
    notifier.notify("lease.create", PAYLOAD)
    wire.cut()

    for _ in range(2):
        with pytest.raises(Unavailable, match="The message bus cannot be reached"):
            notifier.notify("lease.create", PAYLOAD)

    with broker_connection() as connection:
        connection.channel().queue_delete(f"{topic}.info")


def test_nothing_is_sent_without_a_driver(make_conf: Any) -> None:
    conf = make_conf(f"rabbit://guest:guest@127.0.0.1:{free_port()}/", driver="noop")

    BusNotifier(conf, "blazar.lease").notify("lease.create", PAYLOAD)
