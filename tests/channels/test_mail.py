"""Mail to a real SMTP server."""

from __future__ import annotations

import email.policy
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
from channels.post_office import PASSWORD, USER, PostOffice, open_post_office
from channels.test_webhook import server_context
from clocks import EPOCH
from domain.test_notices import make_subscription
from trickling import trickling

from blazar.channels.calendar_entry import calendar_entry
from blazar.channels.languages import list_languages
from blazar.channels.letters import Letters, LetterSettings
from blazar.channels.mail import Mail, MailServer, Security
from blazar.domain.notices import CONFIRM, TEST, NoticeType
from blazar.domain.subscriptions import ChannelKind, Subscription
from blazar.ports.notices import Delivery, DeliveryFailed

ADDRESS = "someone@example.org"
STOPPING = ("421 shutting down", False)
SENDER = "Reservations <noreply@cloud.example.org>"
LEASE: dict[str, Any] = {
    "id": "11111111-2222-3333-4444-555555555555",
    "name": "night <run> & co",
    "start_date": "2031-07-01T10:00:00.000000",
    "end_date": "2031-07-02T10:00:00.000000",
    "status": "ACTIVE",
    "project_id": "project",
    "user_id": "user",
    "reservations": [{"resource_type": "physical:host", "before_end": "snapshot"}],
}
DATA: dict[str, Any] = {
    "lease": LEASE,
    "reasons": [{"reservation_id": "r", "text": "a resource is <gone>"}],
    "former_end_date": "2031-07-01T20:00:00.000000",
    "maintenance": {"reason": "new disks", "start_date": "2031-07-01T10:00:00.000000", "end_date": None},
    "ends_at": "2031-07-01T11:00:00.000000",
    "since": "2031-07-01T11:00:00.000000",
    "resource_type": "physical:host",
    "free": 1,
    "below": 3,
    "code": "abc123",
    "lead_minutes": 60,
    "date": "2031-07-02T10:00:00.000000",
    "at_end": [
        {"reservation_id": "r", "text": "A copy is <made>.", "time": "2031-07-02T09:00:00.000000"},
        {"reservation_id": "r", "text": "All is deleted.", "time": "2031-07-02T10:00:00.000000"},
        {"reservation_id": "s", "text": "All is deleted.", "time": "2031-07-02T10:00:00.000000"},
    ],
}
OFFER = {"offer": {"id": "o1", "name": "", "expires_at": "2031-07-01T11:00:00.000000"}}
TYPES = [*(each.value for each in NoticeType), TEST, CONFIRM]


def make_mail(**keys: Any) -> Subscription:
    return make_subscription(kind=ChannelKind.MAIL, **keys)


def make_delivery(kind: str = "lease.ends_soon", *, data: Any = DATA, **keys: Any) -> Delivery:
    return Delivery(
        message_id="m1",
        subscription=make_mail(**keys),
        type=kind,
        lease_id="lease",
        data=data,
        at=EPOCH,
        queued_at=EPOCH,
    )


def make_letters(**keys: Any) -> Letters:
    return Letters(LetterSettings(**{"sender": SENDER, **keys}))


def written(delivery: Delivery, letters: Letters | None = None) -> Any:
    """Return a mail as its recipient reads it."""
    message = (letters or make_letters()).write(delivery, ADDRESS, EPOCH)
    return email.message_from_bytes(message.as_bytes(), policy=email.policy.default)


def text_of(message: Any, kind: str = "plain") -> str:
    part = message.get_body(preferencelist=(kind,))
    content: str = part.get_content()
    return content


class TestContent:
    @pytest.mark.parametrize("kind", TYPES)
    def test_every_type_has_words(self, kind: str) -> None:
        data = OFFER if kind == "offer.expired" else {"code": "abc123"} if kind in (TEST, CONFIRM) else DATA
        message = written(make_delivery(kind, data=data))

        assert len(message["Subject"]) > 10
        assert kind not in message["Subject"]
        first, *_ = text_of(message).splitlines()
        assert len(first) > 20
        assert first.endswith(".")

    def test_what_happens_at_the_end_is_told_once_in_local_time(self) -> None:
        message = written(make_delivery(time_zone="Asia/Tokyo"))

        assert "- 2031-07-02 18:00 JST: A copy is <made>.\n- 2031-07-02 19:00 JST: All is deleted.\n" in (
            text_of(message)
        )
        assert "<li>2031-07-02 18:00 JST: A copy is &lt;made&gt;.</li>" in text_of(message, "html")
        assert text_of(message, "html").count("All is deleted.") == 1

    def test_headers_name_sender_recipient_and_origin(self) -> None:
        message = written(make_delivery())

        assert message["From"] == SENDER
        assert message["To"] == ADDRESS
        assert message["Subject"] == "Lease night <run> & co ends at 2031-07-02 10:00 UTC"
        assert message["Message-ID"] == "<m1@cloud.example.org>"
        assert message["Auto-Submitted"] == "auto-generated"
        assert message["Date"] == "Wed, 01 Jan 2031 00:00:00 +0000"

    def test_dates_are_in_the_time_zone_of_the_subscriber(self) -> None:
        berlin = written(make_delivery(time_zone="Europe/Berlin"))
        site = written(make_delivery(), make_letters(time_zone="America/New_York"))

        assert "2031-07-02 12:00 CEST" in text_of(berlin)
        assert "dates are in Europe/Berlin" in text_of(berlin)
        assert "2031-07-02 06:00 EDT" in text_of(site)

    def test_html_is_escaped(self) -> None:
        page = text_of(written(make_delivery("lease.failed")), "html")

        assert "night &lt;run&gt; &amp; co" in page
        assert "a resource is &lt;gone&gt;" in page
        assert "<run>" not in page

    @pytest.mark.parametrize(
        "name",
        [
            "a\nBcc: other@example.org",
            "a\r\n\r\nbody",
            "a\x00b",
            "{{ 7 * 7 }}{% include 'x' %}",
            "=?utf-8?b?QQ==?=",
            "\u202egnirts",
            "a" * 5000,
            "2031-07-02T10:00:00.000000",
        ],
    )
    def test_no_name_adds_a_header_a_line_or_a_command(self, name: str) -> None:
        message = written(make_delivery(data={**DATA, "lease": {**LEASE, "name": name}}))

        assert message["Bcc"] is None
        assert message["To"] == ADDRESS
        assert "\n" not in message["Subject"]
        assert len(message["Subject"]) <= 200
        assert "49" not in message["Subject"].replace("{{ 7 * 7 }}", "")
        assert "\nBcc" not in text_of(message)
        assert "\u202e" not in message["Subject"] + text_of(message)
        lines = [each for each in text_of(message).splitlines() if each.startswith("Lease:")]
        assert len(lines) == 1

    def test_a_lease_that_is_over_cannot_be_changed_to_try_again(self) -> None:
        over = {**DATA, "lease": {**LEASE, "status": "TERMINATING"}}

        failed = text_of(written(make_delivery("lease.failed")))
        ended = text_of(written(make_delivery("lease.failed", data=over)))

        assert "to try again" in failed
        assert "to try again" not in ended
        assert "ended before" in ended

    def test_what_became_of_the_resources_is_told(self) -> None:
        results = [
            {"reservation_id": "r", "kind": "deleted", "names": ["server <a>", "server b"]},
            {"reservation_id": "r", "kind": "saved", "names": ["image reserved_a"]},
            {"reservation_id": "s", "kind": "deleted", "names": ["volume c"]},
        ]

        told = written(make_delivery("lease.ended", data={"lease": LEASE, "results": results}))
        nothing = text_of(written(make_delivery("lease.ended", data={"lease": LEASE, "results": []})))

        assert "\n\nSaved: image reserved_a\nDeleted: server <a>; server b; volume c\n\n" in text_of(told)
        assert "<li>Deleted: server &lt;a&gt;; server b; volume c</li>" in text_of(told, "html")
        assert not any(each in nothing for each in ("Saved", "Released", "Deleted", "snapshot"))

    def test_the_lease_is_attached_for_calendars(self) -> None:
        (entry,) = written(make_delivery()).iter_attachments()
        assert (entry.get_content_type(), entry.get_filename()) == ("text/calendar", "lease.ics")
        assert entry.get_param("method") == "PUBLISH"
        lines = entry.get_payload(decode=True).decode().split("\r\n")

        assert "DTSTART:20310701T100000Z" in lines
        assert "DTEND:20310702T100000Z" in lines
        assert "STATUS:CONFIRMED" in lines
        assert list(written(make_delivery("lease.ended")).iter_attachments()) == []

    def test_a_deleted_lease_is_cancelled_in_calendars(self) -> None:
        (entry,) = written(make_delivery("lease.deleted")).iter_attachments()

        assert b"STATUS:CANCELLED" in entry.get_payload(decode=True)


class TestCalendarEntries:
    def test_no_name_ends_a_line(self) -> None:
        lease = {**LEASE, "name": "a\r\nDTEND:20990101T000000Z\\,;b\u2028c"}

        lines = calendar_entry(lease, EPOCH, is_cancelled=False).decode().split("\r\n")

        assert [each for each in lines if each.startswith("DTEND")] == ["DTEND:20310702T100000Z"]
        assert r"SUMMARY:a DTEND:20990101T000000Z\\\,\;b c" in lines

    def test_long_lines_are_folded_between_characters(self) -> None:
        name = "ü" * 80
        content = calendar_entry({**LEASE, "name": name}, EPOCH, is_cancelled=False)

        assert all(len(each) <= 75 for each in content.split(b"\r\n"))
        assert f"SUMMARY:{name}" in content.decode().replace("\r\n ", "")

    def test_a_lease_that_was_ended_when_it_began_has_no_end(self) -> None:
        content = calendar_entry({**LEASE, "end_date": LEASE["start_date"]}, EPOCH, is_cancelled=False)

        assert b"DTEND" not in content

    def test_a_later_entry_takes_precedence(self) -> None:
        def sequence(hours: int) -> int:
            content = calendar_entry(LEASE, EPOCH + timedelta(hours=hours), is_cancelled=False).decode()
            (line,) = [each for each in content.split("\r\n") if each.startswith("SEQUENCE:")]
            return int(line.partition(":")[2])

        assert sequence(0) < sequence(1)


class TestTemplates:
    def test_a_site_replaces_a_part_for_one_type(self, tmp_path: Path) -> None:
        (tmp_path / "en").mkdir()
        (tmp_path / "en" / "lease.started.subject.txt").write_text("{{ notice.lease.name }} läuft")
        letters = make_letters(template_folder=tmp_path)

        assert written(make_delivery("lease.started"), letters)["Subject"] == "night <run> & co läuft"
        assert written(make_delivery("lease.ended"), letters)["Subject"].endswith("has ended")

    def test_a_language_without_a_part_uses_the_english_one(self, tmp_path: Path) -> None:
        (tmp_path / "de").mkdir()
        (tmp_path / "de" / "subject.txt").write_text("Nachricht {{ notice.type }}")
        letters = make_letters(template_folder=tmp_path)

        message = written(make_delivery(language="de"), letters)

        assert message["Subject"] == "Nachricht lease.ends_soon"
        assert message["Content-Language"] == "de"
        assert "Save what you want to keep" in text_of(message)

    @pytest.mark.parametrize("content", [b"{% if %}", b"{{ notice.lease.name", b"\xff\xfe"])
    def test_a_template_with_an_error_is_refused_at_the_start(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "en").mkdir()
        (tmp_path / "en" / "subject.txt").write_bytes(content)

        with pytest.raises(ValueError, match=r"template en/subject.txt: "):
            make_letters(template_folder=tmp_path)

    def test_a_template_cannot_reach_the_process(self, tmp_path: Path) -> None:
        (tmp_path / "en").mkdir()
        (tmp_path / "en" / "subject.txt").write_text("{{ notice.__class__.__mro__ }}")

        with pytest.raises(Exception, match="unsafe"):
            written(make_delivery(), make_letters(template_folder=tmp_path))

    def test_languages_are_the_folders_with_templates(self, tmp_path: Path) -> None:
        for name in ("de", "pt-BR", "README", ".git", "x"):
            (tmp_path / name).mkdir()
        (tmp_path / "fr").write_text("a file")

        assert list_languages(tmp_path) == ("de", "en", "pt-BR")
        assert list_languages(None) == ("en",)


def server_of(office: PostOffice, **keys: Any) -> MailServer:
    return MailServer(**{"host": "127.0.0.1", "port": office.port, "security": Security.NONE, **keys})


def send(server: MailServer, delivery: Delivery | None = None, found: str | None = ADDRESS) -> None:
    Mail(server, make_letters(), lambda user_id: found).deliver(delivery or make_delivery(), EPOCH)


def failure(server: MailServer, **more: Any) -> DeliveryFailed:
    with pytest.raises(DeliveryFailed) as failed:
        send(server, **more)
    return failed.value


@pytest.fixture
def office() -> Iterator[PostOffice]:
    with open_post_office() as found:
        yield found


class TestServers:
    def test_mail_goes_to_the_address_of_the_user(self, office: PostOffice) -> None:
        send(server_of(office))

        (message,) = office.received
        assert (office.recipients, office.senders) == ([ADDRESS], ["noreply@cloud.example.org"])
        assert message["Subject"].startswith("Lease night")

    def test_mail_goes_to_the_address_of_the_subscription(self, office: PostOffice) -> None:
        send(server_of(office), make_delivery(target="other@example.org"))

        assert office.recipients == ["other@example.org"]

    def test_a_user_without_an_address_gets_none(self, office: PostOffice) -> None:
        failed = failure(server_of(office), found=None)

        assert failed.problem == "the user has no mail address in Keystone, or is disabled"
        assert (failed.is_of_site, office.received) == (False, [])

    @pytest.mark.parametrize(
        ("answer", "is_final"), [("550 no such mailbox", True), ("450 mailbox is full", False), STOPPING]
    )
    def test_a_refused_address_is_told_with_its_code(
        self, office: PostOffice, answer: str, is_final: bool
    ) -> None:
        office.refusals[ADDRESS] = answer

        failed = failure(server_of(office))

        assert failed.problem == f"the mail server refused the address: {answer[:3]}"
        assert (failed.is_final, failed.is_silent or failed.is_of_site) == (is_final, answer == STOPPING[0])

    @pytest.mark.parametrize(("answer", "is_final"), [("554 spam", True), ("451 later", False), STOPPING])
    def test_a_refused_mail_is_told_with_its_code(
        self, office: PostOffice, answer: str, is_final: bool
    ) -> None:
        office.answer = answer

        failed = failure(server_of(office))

        assert failed.problem == f"the mail server refused the mail: {answer[:3]}"
        assert (failed.is_final, failed.is_silent or failed.is_of_site) == (is_final, answer == STOPPING[0])

    def test_a_server_that_is_away_does_not_respond(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]

        failed = failure(MailServer(host="127.0.0.1", port=port))

        assert failed.problem == "the mail server does not respond: ConnectionRefusedError"
        assert (failed.is_silent, failed.is_of_site) == (True, True)

    def test_a_server_that_says_nothing_does_not_respond(self) -> None:
        with trickling(b"220") as url:
            port = int(url.rpartition(":")[2].strip("/"))
            failed = failure(MailServer(host="127.0.0.1", port=port, timeout_seconds=0.01))

        assert (failed.is_silent, failed.is_of_site) == (True, True)

    def test_without_starttls_no_mail_is_sent(self, office: PostOffice) -> None:
        failed = failure(server_of(office, security=Security.STARTTLS))

        assert (failed.is_silent, failed.is_of_site) == (True, True)
        assert office.received == []

    def test_mail_is_sent_over_tls_from_the_beginning(self, tmp_path: Path) -> None:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        with open_post_office(server_context(authority, "127.0.0.1"), starttls=False) as office:
            send(server_of(office, security=Security.TLS, ca_file=str(tmp_path / "ca.pem")))

        assert office.recipients == [ADDRESS]

    def test_mail_is_sent_after_starttls_and_a_login(self, tmp_path: Path) -> None:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        with open_post_office(server_context(authority, "127.0.0.1"), login=True) as office:
            server = server_of(office, security=Security.STARTTLS, ca_file=str(tmp_path / "ca.pem"))
            send(replace(server, user=USER, password=PASSWORD))
            wrong = failure(replace(server, user=USER, password="wrong"))

        assert (office.recipients, office.was_encrypted) == ([ADDRESS], [True])
        assert (office.logins[0], office.logins[-1]) == ((USER, PASSWORD), (USER, "wrong"))
        assert (wrong.problem, wrong.is_of_site) == ("the mail server refused the service's account", True)
        assert PASSWORD not in repr(replace(server, password=PASSWORD))

    def test_a_server_with_another_certificate_gets_nothing(self, tmp_path: Path) -> None:
        authority, stranger = trustme.CA(), trustme.CA()
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        context: ssl.SSLContext = server_context(stranger, "127.0.0.1")
        with open_post_office(context, login=True) as office:
            server = server_of(office, security=Security.STARTTLS, ca_file=str(tmp_path / "ca.pem"))
            failed = failure(replace(server, user=USER, password=PASSWORD))

        assert (failed.problem, failed.is_of_site) == ("TLS with the mail server failed", True)
        assert office.logins == []
