"""A transport on the broker."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker import broker_url
from oslo_config import cfg
from wires import Wire

from blazar import config
from blazar.rpc.bus import get_transport


@pytest.fixture
def abandoned_threads() -> Iterator[None]:
    """Silence the threads that a test leaves in oslo.messaging, which tries to connect without limit.

    For minutes, what they log would appear in the output of tests that run later in this process.
    """
    before = set(threading.enumerate())
    yield
    left = {each.ident for each in threading.enumerate() if each not in before}
    logger = logging.getLogger("oslo.messaging._drivers.impl_rabbit")
    logger.addFilter(lambda record: record.thread not in left)


@pytest.fixture
def topic() -> str:
    return f"blazar.test.{uuid.uuid4().hex}"


@pytest.fixture
def transport(tmp_path: Path) -> Iterator[Any]:
    path = tmp_path / "blazar.conf"
    path.write_text(f"[DEFAULT]\ntransport_url = {broker_url()}\nrpc_response_timeout = 60\n")
    cfg.CONF.reset()
    conf = config.make_conf([], "test", config_files=[str(path)], conf=cfg.CONF)
    transport = get_transport(conf)
    yield transport
    transport.cleanup()
    conf.reset()


@pytest.fixture
def wire() -> Iterator[Wire]:
    host, _, port = broker_url().rsplit("@", 1)[1].strip("/").partition(":")
    wire = Wire(host, int(port or 5672))
    yield wire
    wire.cut()
