"""A mail server on loopback, which accepts or refuses as a test wants."""

from __future__ import annotations

import email.policy
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "blazar", "sesame"


class PostOffice:
    """Keeps mail; ``refusals`` are answers to recipients, by address, and ``answer`` that to the content."""

    def __init__(self) -> None:
        self.received: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.senders: list[str] = []
        self.logins: list[tuple[str, str]] = []
        self.was_encrypted: list[bool] = []
        self.refusals: dict[str, str] = {}
        self.answer = "250 OK"
        self.port = 0

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refusals:
            return self.refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.answer.startswith("250"):
            content = envelope.content
            assert isinstance(content, bytes)
            message = email.message_from_bytes(content, policy=email.policy.default)
            assert isinstance(message, EmailMessage)
            self.received.append(message)
            self.recipients += envelope.rcpt_tos
            self.senders.append(str(envelope.mail_from))
            self.was_encrypted.append(session.ssl is not None)
        return self.answer

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        given = data.login.decode(), data.password.decode()
        self.logins.append(given)
        return AuthResult(success=given == (USER, PASSWORD), handled=False)


@contextmanager
def open_post_office(
    tls: ssl.SSLContext | None = None,
    *,
    starttls: bool = True,
    login: bool = False,
    office: PostOffice | None = None,
) -> Iterator[PostOffice]:
    """Yield a running mail server.

    Args:
        tls: The certificate of the server; None for a server without TLS.
        starttls: Whether TLS begins with STARTTLS, which the server then requires, or with the connection.
        login: Whether the server requires a login, after STARTTLS.
        office: What happens to mail; None for a new one that keeps it.
    """
    office = office or PostOffice()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    more: dict[str, Any] = {"ssl_context": tls} if tls is not None and not starttls else {}
    if tls is not None and starttls:
        more |= {"tls_context": tls, "require_starttls": True}
    if login:
        more |= {"authenticator": office.authenticate, "auth_required": True}
    controller = Controller(office, hostname="127.0.0.1", port=port, **more)
    controller.start()
    office.port = port
    try:
        yield office
    finally:
        controller.stop()
