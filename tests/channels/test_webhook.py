"""Webhooks to receivers that answer, fail, trickle, redirect and lie about their address."""

from __future__ import annotations

import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
from channels.receiver import Answer, Receiver, receiving, verified
from clocks import EPOCH
from domain.test_notices import make_subscription
from trickling import HABITS, trickling

from blazar.channels.resolver import resolve
from blazar.channels.webhook import Webhooks, WebhookSettings
from blazar.domain.webhook_rules import Address, WebhookRules
from blazar.domain.webhook_signatures import secret_of
from blazar.ports.notices import Delivery, DeliveryFailed

LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
RULES = WebhookRules(allows_http=True, ports=frozenset(), allowed=(LOOPBACK,))
STRICT = WebhookRules(allows_http=True, ports=frozenset())
SECRET = secret_of(b"k" * 32)
PATIENT, SHORT = 30.0, 0.3
PUBLIC, PRIVATE, HERE = map(ipaddress.ip_address, ("8.8.8.8", "10.0.0.1", "127.0.0.1"))
Names = Callable[[str, int, float], Sequence[Address]]


def make_delivery(url: str, **keys: Any) -> Delivery:
    fields: dict[str, Any] = {
        "message_id": "m1",
        "subscription": make_subscription(target=url, secret=SECRET),
        "type": "lease.started",
        "lease_id": "lease",
        "data": {"lease": {"id": "lease", "name": "night"}},
        "at": EPOCH,
        "queued_at": EPOCH,
        **keys,
    }
    return Delivery(**fields)


def send(
    url: str,
    *,
    rules: WebhookRules = RULES,
    seconds: float = PATIENT,
    names: Names = resolve,
    ca_file: str | None = None,
) -> None:
    settings = WebhookSettings(rules=rules, timeout_seconds=seconds, ca_file=ca_file)
    Webhooks(settings, names).deliver(make_delivery(url), EPOCH)


def failure(url: str, **more: Any) -> DeliveryFailed:
    with pytest.raises(DeliveryFailed) as failed:
        send(url, **more)
    return failed.value


def named(*addresses: Address) -> Names:
    return lambda host, port, seconds: addresses


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


class TestRequests:
    def test_a_request_has_the_headers_and_the_body_of_standard_webhooks(self, receiver: Receiver) -> None:
        send(receiver.url)

        (request,) = receiver.received
        headers = {name.lower(): value for name, value in request.headers.items()}
        assert request.path == "/leases?key=1"
        assert headers["host"] == f"127.0.0.1:{receiver.port}"
        assert headers["content-type"] == "application/json"
        assert (headers["webhook-id"], headers["webhook-timestamp"]) == (
            "m1",
            str(int(EPOCH.timestamp())),
        )
        assert json.loads(request.body) == {
            "type": "lease.started",
            "timestamp": "2031-01-01T00:00:00Z",
            "data": {"lease": {"id": "lease", "name": "night"}},
        }
        assert verified(receiver.received, SECRET)
        assert not verified(receiver.received, secret_of(b"x" * 32))

    def test_after_a_rotation_both_keys_sign(self, receiver: Receiver) -> None:
        subscription = make_subscription(
            target=receiver.url,
            secret=SECRET,
            former_secret=secret_of(b"o" * 32),
            former_until=EPOCH + timedelta(hours=1),
        )
        delivery = make_delivery("", subscription=subscription)

        Webhooks(WebhookSettings(rules=RULES)).deliver(delivery, EPOCH)

        assert verified(receiver.received, SECRET)
        assert verified(receiver.received, secret_of(b"o" * 32))

    @pytest.mark.parametrize("status", [200, 201, 204, 299])
    def test_each_2xx_is_a_success(self, status: int) -> None:
        with receiving(status) as receiver:
            send(receiver.url)

        assert len(receiver.received) == 1

    def test_the_environment_names_no_proxy(
        self, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1/")

        send(receiver.url)

        assert len(receiver.received) == 1


class TestFailures:
    @pytest.mark.parametrize("status", [400, 404, 500, 503])
    def test_any_other_status_is_a_failure(self, status: int) -> None:
        with receiving(Answer(status, body=b"secrets of the receiver")) as receiver:
            failed = failure(receiver.url)

        assert failed.problem == f"answered with {status}"
        assert (failed.is_silent, failed.is_final, failed.is_gone) == (False, False, False)

    def test_gone_means_that_nothing_more_is_wanted(self) -> None:
        with receiving(410) as receiver:
            assert failure(receiver.url).is_gone

    @pytest.mark.parametrize(
        ("text", "seconds"),
        [
            ("120", 120),
            ("0", 0),
            ("9" * 60, 10**9),
            ("Wed, 01 Jan 2031 00:02:00 GMT", 120),
            ("Tue, 31 Dec 2030 00:00:00 GMT", 0),
            ("soon", None),
            ("-1", None),
            ("٣", None),
            ("1" * 100, None),
        ],
    )
    def test_the_time_that_a_receiver_asks_for_is_read(self, text: str, seconds: int | None) -> None:
        with receiving(Answer(503, {"Retry-After": text.encode().decode("latin-1")})) as receiver:
            failed = failure(receiver.url)

        assert failed.retry_after == (None if seconds is None else timedelta(seconds=seconds))

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_redirects_are_not_followed(self, status: int, receiver: Receiver) -> None:
        with receiving(Answer(status, {"Location": receiver.url})) as redirecting:
            failed = failure(redirecting.url)

        assert failed.problem == f"answered with {status}; redirects are not followed"
        assert receiver.received == []

    @pytest.mark.parametrize("beginning", HABITS)
    def test_a_receiver_that_trickles_is_given_up(self, beginning: bytes) -> None:
        with trickling(beginning) as url:
            failed = failure(url, seconds=SHORT)

        assert failed.problem == "no complete answer within 0.3 s"
        assert failed.is_silent

    def test_an_endless_answer_is_not_read_to_its_end(self) -> None:
        with receiving(Answer(200, body=b"x" * 10_000_000)) as receiver:
            send(receiver.url)

        assert len(receiver.received) == 1

    def test_a_receiver_that_closes_the_connection_did_not_answer(self) -> None:
        with receiving(None) as receiver:
            failed = failure(receiver.url)

        assert failed.problem.startswith("no answer: ")
        assert failed.is_silent

    def test_a_receiver_that_is_away_did_not_answer(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]

        assert failure(f"http://127.0.0.1:{port}/").problem == "no answer: NewConnectionError"

    def test_an_answer_that_is_not_http_is_none(self) -> None:
        with trickling(b"220 smtp.example.org ESMTP\r\n") as url:
            assert failure(url).problem.startswith("no answer: ")


class TestAddresses:
    def test_a_name_with_an_address_inside_is_not_called(self, receiver: Receiver) -> None:
        url = f"http://localhost:{receiver.port}/"

        failed = failure(url, rules=STRICT)

        assert failed.problem == "the host has no address that may be called from here"
        assert receiver.received == []

    @pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost."])
    def test_other_forms_of_an_address_inside_are_not_called_either(
        self, host: str, receiver: Receiver
    ) -> None:
        failure(f"http://{host}:{receiver.port}/", rules=STRICT)

        assert receiver.received == []

    def test_the_name_is_resolved_once_and_the_checked_address_called(self, receiver: Receiver) -> None:
        answers = iter([(HERE,), (PRIVATE,)])
        asked = []

        def names(host: str, port: int, seconds: float) -> Sequence[Address]:
            asked.append(host)
            return next(answers)

        send(f"http://hooks.example.org:{receiver.port}/", names=names)

        assert asked == ["hooks.example.org"]
        (request,) = receiver.received
        assert request.headers["Host"] == f"hooks.example.org:{receiver.port}"

    def test_addresses_that_are_not_allowed_are_skipped(self, receiver: Receiver) -> None:
        send(f"http://hooks.example.org:{receiver.port}/", names=named(PRIVATE, HERE))

        assert len(receiver.received) == 1

    def test_the_next_address_is_tried_if_one_refuses_connections(self, receiver: Receiver) -> None:
        send(
            f"http://hooks.example.org:{receiver.port}/",
            names=named(ipaddress.ip_address("127.0.0.2"), HERE),
        )

        assert len(receiver.received) == 1

    def test_a_name_without_an_address_is_a_failure(self) -> None:
        failed = failure("http://hooks.invalid/")

        assert failed.problem == "the host cannot be resolved: the name has no address"
        assert failed.is_silent

    def test_a_name_server_that_does_not_respond_is_given_up(self) -> None:
        def names(host: str, port: int, seconds: float) -> Sequence[Address]:
            raise TimeoutError("the name server does not respond")

        failed = failure("http://hooks.example.org/", names=names)

        assert failed.problem == "the host cannot be resolved: the name server does not respond"

    def test_rules_that_became_stricter_hold_for_present_subscriptions(self, receiver: Receiver) -> None:
        failed = failure(receiver.url, rules=WebhookRules())

        assert failed.problem == "url: must begin with https://"
        assert receiver.received == []


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def server_context(authority: trustme.CA, name: str, **keys: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name, **keys).configure_cert(context)
    return context


class TestTls:
    def test_the_certificate_is_checked_for_the_name_in_the_url(
        self, authority: trustme.CA, tmp_path: Path
    ) -> None:
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        with receiving(tls=server_context(authority, "hooks.example.org")) as receiver:
            url = f"https://hooks.example.org:{receiver.port}/"
            send(url, names=named(HERE), ca_file=str(tmp_path / "ca.pem"))

        assert len(receiver.received) == 1

    @pytest.mark.parametrize(
        ("name", "keys"),
        [
            ("other.example.org", {}),
            ("127.0.0.1", {}),
            ("hooks.example.org", {"not_after": datetime(2020, 1, 1, tzinfo=UTC)}),
        ],
    )
    def test_a_certificate_that_is_not_valid_is_refused(
        self, authority: trustme.CA, tmp_path: Path, name: str, keys: dict[str, Any]
    ) -> None:
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        with receiving(tls=server_context(authority, name, **keys)) as receiver:
            url = f"https://hooks.example.org:{receiver.port}/"
            failed = failure(url, names=named(HERE), ca_file=str(tmp_path / "ca.pem"))

        assert failed.problem.startswith("TLS failed: ")
        assert receiver.received == []

    def test_an_unknown_authority_is_refused(self, authority: trustme.CA) -> None:
        with receiving(tls=server_context(authority, "hooks.example.org")) as receiver:
            failed = failure(f"https://hooks.example.org:{receiver.port}/", names=named(HERE))

        assert failed.problem.startswith("TLS failed: ")
        assert receiver.received == []

    def test_a_receiver_without_tls_is_refused(self, receiver: Receiver) -> None:
        failed = failure(f"https://hooks.example.org:{receiver.port}/", names=named(HERE))

        assert failed.is_silent
        assert receiver.received == []


def test_the_system_resolves_names() -> None:
    assert HERE in resolve("localhost", 443, PATIENT)
    with pytest.raises(OSError, match="no address"):
        resolve("hooks.invalid", 443, PATIENT)


def test_a_resolution_that_is_late_is_left_behind() -> None:
    is_over = threading.Event()

    def ask(host: str, port: int, **more: Any) -> Sequence[Any]:
        is_over.wait()
        return ()

    try:
        with pytest.raises(TimeoutError, match="does not respond"):
            resolve("hooks.example.org", 443, 0.01, ask)
    finally:
        is_over.set()
