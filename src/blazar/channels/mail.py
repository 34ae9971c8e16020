"""Mail by SMTP."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from blazar.channels.letters import Letters
from blazar.ports.notices import Delivery, DeliveryFailed

if TYPE_CHECKING:
    from blazar.ports.notices import Channel

_PERMANENT: Final = 500
_CLOSING: Final = 421
"""The code with which a server ends a connection at any time, for example because it stops."""
FindAddress = Callable[[str], str | None]
"""Returns the address of a user; None if it has none. Raises DeliveryFailed if this cannot be determined."""


class Security(StrEnum):
    """The security of the connection to the mail server."""

    NONE = "none"
    STARTTLS = "starttls"
    TLS = "tls"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """The mail server; ``repr`` omits the password."""

    host: str
    port: int
    security: Security = Security.STARTTLS
    user: str | None = None
    password: str | None = None
    timeout_seconds: float = 10
    """Limit for each answer of the server."""
    ca_file: str | None = None
    """File of certificate authorities; None for those of the system."""

    def __repr__(self) -> str:
        """Return the server without its credentials."""
        return f"MailServer(host={self.host!r}, port={self.port!r})"


class Mail:
    """Implements :class:`blazar.ports.notices.Channel`."""

    def __init__(self, server: MailServer, letters: Letters, find_address: FindAddress) -> None:
        """Create the channel.

        Args:
            server: The mail server.
            letters: Renders mail.
            find_address: Returns the address of a user.
        """
        self._server = server
        self._letters = letters
        self._find_address = find_address

    def deliver(self, delivery: Delivery, now: datetime) -> None:
        """Pass a mail to the server. Raises DeliveryFailed unless the server accepts it."""
        subscription = delivery.subscription
        address = subscription.target or self._find_address(subscription.user_id or "")
        if address is None:
            raise DeliveryFailed("the user has no mail address in Keystone, or is disabled", is_silent=True)
        message = self._letters.write(delivery, address, now)
        with _failures(), self._connected() as smtp:
            smtp.send_message(message)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Return the context of all connections; reading the authorities takes longer than sending a mail."""
        return ssl.create_default_context(cafile=self._server.ca_file)

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        server = self._server
        if server.security is Security.TLS:
            smtp: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port, timeout=server.timeout_seconds, context=self._tls
            )
        else:
            smtp = smtplib.SMTP(server.host, server.port, timeout=server.timeout_seconds)
        with smtp:
            if server.security is Security.STARTTLS:
                smtp.starttls(context=self._tls)
            if server.user:
                smtp.login(server.user, server.password or "")
            yield smtp


@contextmanager
def _failures() -> Iterator[None]:
    """Convert the errors of the library; subscribers see only the codes of the server."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        code = max((code for code, _ in error.recipients.values()), default=_PERMANENT)
        raise _refusal("address", code) from error
    except smtplib.SMTPDataError as error:
        raise _refusal("mail", error.smtp_code) from error
    except smtplib.SMTPAuthenticationError as error:
        raise _outage("the mail server refused the service's account") from error
    except smtplib.SMTPResponseException as error:
        raise _outage(f"the mail server refused the connection: {error.smtp_code}") from error
    except ssl.SSLError as error:
        raise _outage("TLS with the mail server failed") from error
    except (OSError, smtplib.SMTPException) as error:
        raise _outage(f"the mail server does not respond: {type(error).__name__}") from error


def _refusal(refused: str, code: int) -> DeliveryFailed:
    """Return the error for a mail or an address that the server refused with a code."""
    problem = f"the mail server refused the {refused}: {code}"
    if code == _CLOSING:
        return _outage(problem)
    return DeliveryFailed(problem, is_final=code >= _PERMANENT)


def _outage(problem: str) -> DeliveryFailed:
    """Return the error for a mail server that accepts no mail at all."""
    return DeliveryFailed(problem, is_silent=True, is_of_site=True)


if TYPE_CHECKING:

    def _witness(each: Mail) -> Channel:
        return each
