"""The mail server of the site: it keeps who got which mail about which lease."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage

from aiosmtpd.smtp import SMTP, Envelope, Session
from channels.post_office import PostOffice, open_post_office

NAME = re.compile(r"Lease (\S+)")
"""The name of a lease in the subject of a mail."""


class Mailbox(PostOffice):
    """Counts mail instead of keeping it."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: Counter[str] = Counter()
        """How often each message arrived, by its id."""
        self.about: Counter[tuple[str, str]] = Counter()
        """How many messages arrived, by the name of the lease and the type of the notice."""
        self.misdirected: list[str] = []
        """Mail about a lease that went to another user than its owner."""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Count a mail and forget its content."""
        answer = await super().handle_DATA(server, session, envelope)
        while self.received:
            self._note(self.received.pop(), envelope.rcpt_tos)
        for each in (self.recipients, self.senders, self.was_encrypted):
            each.clear()
        return answer

    def types(self) -> Counter[str]:
        """Return the numbers of different messages, by the type of the notice."""
        counts: Counter[str] = Counter()
        for (_, kind), count in self.about.items():
            counts[kind] += count
        return counts

    def repeated(self) -> int:
        """Return how many mails were repetitions of an earlier one."""
        return self.messages.total() - len(self.messages)

    def _note(self, message: EmailMessage, recipients: list[str]) -> None:
        message_id, subject = str(message["Message-ID"]), str(message["Subject"])
        self.messages[message_id] += 1
        found = NAME.search(subject)
        if self.messages[message_id] > 1 or found is None:
            return
        name = found[1].rstrip(":")
        self.about[name, str(message["X-Blazar-Notice"])] += 1
        if not all(name.startswith(f"{each.partition('@')[0]}-lease-") for each in recipients):
            self.misdirected.append(f"{subject} to {recipients}")


@contextmanager
def open_mailbox() -> Iterator[Mailbox]:
    """Yield a running mail server on a free port of loopback."""
    mailbox = Mailbox()
    with open_post_office(office=mailbox):
        yield mailbox
