"""Notifications as a consumer receives them from a real broker."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker import broker_connection, broker_url
from oslo_config import cfg
from programs import wait_until

from blazar import config
from blazar.rpc.notifications import BusNotifier
from blazar.telemetry.log_context import arriving

PAYLOAD = {"lease_id": "l1", "name": "ü", "degraded": False, "reservations": [{"min": 1}]}


@pytest.fixture
def topic() -> str:
    return f"blazar-test-{uuid.uuid4().hex}"


@pytest.fixture
def conf(tmp_path: Path, topic: str) -> Iterator[cfg.ConfigOpts]:
    path = tmp_path / "blazar.conf"
    path.write_text(
        f"[DEFAULT]\ntransport_url = {broker_url()}\n"
        f"[oslo_messaging_notifications]\ndriver = messagingv2\ntopics = {topic}\n"
    )
    cfg.CONF.reset()
    yield config.make_conf([], "test", config_files=[str(path)], conf=cfg.CONF)
    cfg.CONF.reset()


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
