"""Notifications of compute services on a real broker."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oslo_messaging
import pytest
from broker import broker_connection, broker_url
from oslo_config import cfg

from blazar import config
from blazar.domain.errors import ConcurrentUpdate, Unavailable
from blazar.rpc.host_notifications import HostNotifications
from blazar.settings import NotificationSource

WAIT_SECONDS = 20
SIGN = "sign "
PRIORITIES = ("info", "warn", "error")
OTHER = "critical"


def payload(host: object = "node-1", binary: object = "nova-compute", **more: object) -> dict[str, Any]:
    """Return the payload of Nova's notification about a service."""
    data = {"host": host, "binary": binary, "disabled": True, "forced_down": False, **more}
    return {
        "nova_object.name": "ServiceStatusPayload",
        "nova_object.namespace": "nova",
        "nova_object.version": "1.1",
        "nova_object.data": data,
    }


class Heard:
    """The host names that a listener received; markers that the test sends are stored separately."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._signs: set[str] = set()
        self._news = threading.Condition()

    def __call__(self, name: str) -> None:
        with self._news:
            if name.startswith(SIGN):
                self._signs.add(name)
            else:
                self.names.append(name)
            self._news.notify_all()

    def has_seen(self, sign: str, seconds: float) -> bool:
        """Return whether a marker arrives within a number of seconds."""
        with self._news:
            return self._news.wait_for(lambda: sign in self._signs, timeout=seconds)

    def wait_for(self, count: int) -> list[str]:
        """Return the received names, sorted, once there are *count* of them or the timeout has elapsed."""
        with self._news:
            self._news.wait_for(lambda: len(self.names) >= count, timeout=WAIT_SECONDS)
            return sorted(self.names)


class Bus:
    """Topics, an exchange and a pool that only this test uses."""

    def __init__(self, conf: cfg.ConfigOpts, folder: Path) -> None:
        name = f"blazar.test.{uuid.uuid4().hex}"
        self.source = NotificationSource(topics=(name, f"{name}.more"), exchange=name, pool=f"{name}.pool")
        self._conf = conf
        self._listeners: list[Any] = []
        (folder / "nova.conf").write_text(
            f"[DEFAULT]\ntransport_url = {broker_url()}\ncontrol_exchange = {name}\n"
        )
        self._nova_conf = cfg.ConfigOpts()
        self._nova_conf([], project="nova", default_config_files=[str(folder / "nova.conf")])
        self._nova = oslo_messaging.get_notification_transport(self._nova_conf)

    def listen(self, on_change: Callable[[str], object]) -> HostNotifications:
        """Start to listen as a manager does."""
        listener = HostNotifications(self._conf, self.source, on_change)
        listener.start()
        self._listeners.append(listener)
        return listener

    def listen_as_others_do(self, endpoint: object) -> None:
        """Consume notifications of the first topic from the topic's queue, as telemetry does."""
        listener = oslo_messaging.get_notification_listener(
            self._nova,
            [oslo_messaging.Target(topic=self.source.topics[0])],
            [endpoint],
            executor="threading",
        )
        listener.start()
        self._listeners.append(listener)

    def notifier(self, topic: int = 0) -> oslo_messaging.Notifier:
        """Return a notifier like Nova's."""
        return oslo_messaging.Notifier(
            self._nova,
            "nova-api:controller",
            driver="messagingv2",
            topics=[self.source.topics[topic]],
        )

    def send(self, event_type: object, body: object, *, priority: str = "info", topic: int = 0) -> None:
        getattr(self.notifier(topic), priority)({}, event_type, body)

    def wait_until_heard(self, *heard: Heard) -> None:
        """Wait until the first of these listeners has received everything that was sent so far."""
        for _ in range(100):
            sign = f"{SIGN}{uuid.uuid4().hex}"
            self.send("service.update", payload(sign))
            if heard[0].has_seen(sign, 0.2):
                return
        raise AssertionError("no listener has received it")

    def stop_listening(self) -> None:
        while self._listeners:
            listener = self._listeners.pop()
            listener.stop()
            if not isinstance(listener, HostNotifications):
                listener.wait()

    def close(self) -> None:
        self.stop_listening()
        self._nova.cleanup()
        with broker_connection() as connection:
            channel = connection.channel()
            topics = [
                f"{topic}.{priority}" for topic in self.source.topics for priority in (*PRIORITIES, OTHER)
            ]
            for name in (self.source.pool, *topics):
                channel.queue_delete(name)
            channel.exchange_delete(self.source.exchange)


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[Bus]:
    path = tmp_path / "blazar.conf"
    # The service's own transport is a different one, which does not respond.
    path.write_text(
        "[DEFAULT]\ntransport_url = rabbit://none:none@127.0.0.1:9/\n"
        f"[oslo_messaging_notifications]\ntransport_url = {broker_url()}\n"
    )
    cfg.CONF.reset()
    conf = config.make_conf([], "test", config_files=[str(path)], conf=cfg.CONF)
    bus = Bus(conf, tmp_path)
    yield bus
    bus.close()
    conf.reset()


@pytest.fixture
def heard(bus: Bus) -> Heard:
    """Return the record of a listener that already receives notifications."""
    heard = Heard()
    bus.listen(heard)
    bus.wait_until_heard(heard)
    return heard


def test_what_happens_to_a_compute_service_is_heard_of_any_priority_and_topic(bus: Bus, heard: Heard) -> None:
    sent = []
    for event_type in ("service.create", "service.update", "service.delete"):
        for priority in PRIORITIES:
            for topic in (0, 1):
                sent.append(f"{event_type} {priority} {topic}")
                bus.send(event_type, payload(sent[-1]), priority=priority, topic=topic)

    assert heard.wait_for(len(sent)) == sorted(sent)


def test_what_happens_to_others_is_not(bus: Bus, heard: Heard) -> None:
    bus.send("service.update", payload("node-1", binary="nova-conductor"))
    bus.send("instance.update", payload("node-2"))
    bus.send("service.update", payload("node-3"), priority=OTHER)
    bus.send("compute.instance.update", {"host": "node-4", "binary": "nova-compute"})
    for event_type in (None, 17, ["service.update"], {"service.update": 1}):
        bus.send(event_type, payload("node-5"))

    bus.wait_until_heard(heard)
    assert heard.names == []


def test_what_makes_no_sense_is_said_and_passed_over_once(
    bus: Bus, heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    nothing: tuple[object, ...] = (None, [], {})
    bodies: list[object] = [
        *(None, "text", 17, [], {}),
        *({"nova_object.data": each} for each in nothing),
        *(payload(host=each) for each in (None, 17, ["node-1"])),
        *(payload(binary=each) for each in (None, {"nova-compute": 1})),
    ]

    for body in bodies:
        bus.send("service.update", body)
    bus.wait_until_heard(heard)
    bus.send("service.update", payload("node-1"))

    assert heard.wait_for(1) == ["node-1"]
    said = [each for each in caplog.records if each.name == "blazar.rpc.host_notifications"]
    assert [each.levelname for each in said] == ["WARNING"] * len(bodies)
    assert all(" publisher=nova-api:controller " in each.getMessage() for each in said)


def test_managers_share_what_is_heard(bus: Bus, heard: Heard) -> None:
    other = Heard()
    bus.listen(other)
    bus.wait_until_heard(other)
    names = sorted(f"node-{number}" for number in range(20))

    for name in names:
        bus.send("service.update", payload(name))

    bus.wait_until_heard(heard)
    bus.wait_until_heard(other)
    assert sorted(heard.names + other.names) == names
    assert heard.names
    assert other.names


def test_weakness_43_another_consumer_of_the_same_topic_misses_nothing(bus: Bus, heard: Heard) -> None:
    telemetry = Heard()
    bus.listen_as_others_do(Telemetry(telemetry))
    names = sorted(f"node-{number}" for number in range(20))

    for name in names:
        bus.send("service.update", payload(name))

    assert heard.wait_for(len(names)) == names
    assert telemetry.wait_for(len(names)) == names


class Telemetry:
    """Another consumer of Nova's notifications."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard

    def info(self, context: Any, publisher: Any, event_type: Any, body: Any, metadata: Any) -> None:
        self._heard(body["nova_object.data"]["host"])


def test_what_cannot_be_noted_now_is_noted_later(bus: Bus, heard: Heard) -> None:
    failures = iter([Unavailable("the database is not available"), ConcurrentUpdate("changed concurrently")])

    def on_change(name: str) -> None:
        for failure in failures:
            raise failure
        heard(name)

    bus.stop_listening()
    bus.listen(on_change)
    bus.send("service.update", payload("node-1"))

    assert heard.wait_for(1) == ["node-1"]


def test_a_manager_that_cannot_note_anything_can_be_stopped(bus: Bus, heard: Heard) -> None:
    is_trying = threading.Event()

    def on_change(name: str) -> None:
        is_trying.set()
        raise Unavailable("the database is not available")

    bus.stop_listening()
    bus.listen(on_change)
    bus.send("service.update", payload("node-1"))
    assert is_trying.wait(WAIT_SECONDS)

    bus.stop_listening()

    assert heard.names == []


def test_news_of_the_time_when_no_manager_ran_are_heard_later(bus: Bus, heard: Heard) -> None:
    bus.stop_listening()
    bus.send("service.update", payload("node-1"))

    bus.listen(heard)

    assert heard.wait_for(1) == ["node-1"]


@pytest.fixture
def unconnected(tmp_path: Path) -> Iterator[HostNotifications]:
    """Yield a listener whose broker does not exist."""
    path = tmp_path / "blazar.conf"
    path.write_text("[DEFAULT]\ntransport_url = rabbit://none:none@127.0.0.1:9/\n")
    cfg.CONF.reset()
    conf = config.make_conf([], "test", config_files=[str(path)], conf=cfg.CONF)
    source = NotificationSource(topics=("topic",), exchange="exchange", pool="pool")
    yield HostNotifications(conf, source, lambda name: None)
    conf.reset()


@pytest.mark.usefixtures("abandoned_threads")
def test_a_manager_without_a_broker_starts_and_stops(unconnected: HostNotifications) -> None:
    unconnected.start()
    unconnected.stop()


class Connecting:
    """A listener of the library whose start takes until it is told to end, and may then fail."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.begins, self.may_end, self.stopped = (threading.Event() for _ in range(3))
        self._failure = failure

    def start(self) -> None:
        self.begins.set()
        assert self.may_end.wait(WAIT_SECONDS)
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        self.stopped.set()


@pytest.mark.parametrize("failure", [None, AttributeError("the transport is gone")])
def test_a_manager_that_stops_while_it_connects_leaves_nothing(
    unconnected: HostNotifications,
    failure: Exception | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    connecting = Connecting(failure)
    monkeypatch.setattr(unconnected, "_make_listener", lambda: connecting)
    unconnected.start()
    assert connecting.begins.wait(WAIT_SECONDS)

    unconnected.stop()
    connecting.may_end.set()

    unconnected._thread.join(WAIT_SECONDS)
    assert not unconnected._thread.is_alive()
    assert connecting.stopped.is_set() is (failure is None)
    assert levels_of_own_records(caplog) == []


def levels_of_own_records(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the levels of what the module logged; a thread of an earlier test may log meanwhile."""
    return [each.levelname for each in caplog.records if each.name == "blazar.rpc.host_notifications"]


def test_an_unexpected_error_of_the_library_does_not_end_listening(
    unconnected: HostNotifications, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = [Connecting(RuntimeError("unexpected")), Connecting()]
    for each in found:
        each.may_end.set()
    monkeypatch.setattr(unconnected, "_make_listener", iter(found).__next__)
    monkeypatch.setattr("blazar.rpc.host_notifications._PAUSE_SECONDS", 0)

    unconnected.start()

    assert found[1].begins.wait(WAIT_SECONDS)
    unconnected._thread.join(WAIT_SECONDS)
    unconnected._listener = None
    unconnected.stop()
    assert levels_of_own_records(caplog) == ["ERROR"]
