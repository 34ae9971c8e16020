"""Mail with notices, rendered from templates that a site can replace.

A mail has the parts ``subject.txt``, ``sentence.txt``, ``notice.txt`` and ``notice.html``. For the type
``lease.started`` in the language ``de``, the first of these templates is used that exists, in the site's
folder or else in the distribution's: ``de/lease.started.subject.txt``, ``de/subject.txt``,
``en/lease.started.subject.txt``, ``en/subject.txt``. The last two parts get the first two as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from jinja2 import ChoiceLoader, FileSystemLoader, PackageLoader, StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from blazar.channels.calendar_entry import calendar_entry
from blazar.channels.languages import LANGUAGE
from blazar.domain.notices import NoticeType
from blazar.ports.notices import Delivery

_LONGEST_SUBJECT: Final = 200
_LONGEST_TEXT: Final = 500
_ATTACHED: Final = frozenset(
    {
        NoticeType.CREATED,
        NoticeType.CHANGED,
        NoticeType.EXTENDED,
        NoticeType.STARTS_SOON,
        NoticeType.STARTED,
        NoticeType.ENDS_SOON,
        NoticeType.DELETED,
    }
)
"""The notices to which the lease is attached for calendars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterSettings:
    """Settings of the content of mail."""

    sender: str
    """The value of the header From."""
    template_folder: Path | None = None
    """The site's templates, which take precedence."""
    time_zone: str = "UTC"
    language: str = LANGUAGE


class Letters:
    """Renders mail."""

    def __init__(self, settings: LetterSettings) -> None:
        """Create a renderer.

        Args:
            settings: The settings.

        Raises:
            ValueError: A template of the site cannot be used; the message names it.
        """
        self._settings = settings
        own = [] if settings.template_folder is None else [FileSystemLoader(settings.template_folder)]
        self._templates = SandboxedEnvironment(
            loader=ChoiceLoader([*own, PackageLoader("blazar.channels")]),
            autoescape=lambda name: name is not None and name.endswith(".html"),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._check()

    def write(self, delivery: Delivery, address: str, now: datetime) -> EmailMessage:
        """Return the mail with a notice.

        Args:
            delivery: The notice.
            address: The recipient: one plain address.
            now: The time of the attempt.
        """
        subscription = delivery.subscription
        language = subscription.language or self._settings.language
        values = values_of(delivery, ZoneInfo(subscription.time_zone or self._settings.time_zone))
        render = partial(self._render, delivery.type, language)
        subject = _line(render("subject.txt", {"notice": values}))
        sentence = _line(render("sentence.txt", {"notice": values}))
        content = {"notice": values, "subject": subject, "sentence": sentence}
        message = EmailMessage()
        message["From"] = self._settings.sender
        message["To"] = address
        message["Subject"] = subject[:_LONGEST_SUBJECT]
        message["Date"] = format_datetime(now.astimezone(UTC))
        message["Message-ID"] = f"<{delivery.message_id}@{_domain_of(self._settings.sender)}>"
        # Prevent automatic answers, and answers to these.
        message["Auto-Submitted"] = "auto-generated"
        message["X-Blazar-Notice"] = delivery.type
        message.set_content(f"{render('notice.txt', content).strip()}\n")
        message.add_alternative(render("notice.html", content), subtype="html")
        entry = _entry(delivery)
        if entry is not None:
            message.add_attachment(
                entry, maintype="text", subtype="calendar", filename="lease.ics", params={"method": "PUBLISH"}
            )
        # Last: headers of this kind move into the first part when there is a second one.
        message["Content-Language"] = language
        return message

    def _render(self, kind: str, language: str, part: str, values: Mapping[str, object]) -> str:
        names = [f"{each}/{name}" for each in (language, LANGUAGE) for name in (f"{kind}.{part}", part)]
        return self._templates.select_template(names).render(values)

    def _check(self) -> None:
        """Raise ValueError if a template has a syntax error."""
        for name in self._templates.list_templates():
            if name.endswith((".txt", ".html")):
                try:
                    self._templates.get_template(name)
                except (TemplateError, UnicodeError) as error:
                    raise ValueError(f"template {name}: {error}") from error


def values_of(delivery: Delivery, zone: ZoneInfo) -> Mapping[str, object]:
    """Return the values of templates: the data of the notice in plain text, with dates in a time zone.

    Control characters, ends of lines and invisible characters are removed from all texts.
    """
    return {
        **{str(key): _plain(value, zone) for key, value in delivery.data.items()},
        "type": delivery.type,
        "at": _shown(delivery.at, zone),
        "zone": zone.key,
        "subscription_id": delivery.subscription.id,
    }


def _plain(value: Any, zone: ZoneInfo) -> Any:
    if isinstance(value, str):
        date = _date(value)
        if date is not None:
            return _shown(date, zone)
        return "".join(each for each in " ".join(value.split()) if each.isprintable())[:_LONGEST_TEXT]
    if isinstance(value, Mapping):
        return {str(key): _plain(each, zone) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, zone) for each in value]
    return value


def _date(text: str) -> datetime | None:
    """Return the instant that a text is in the format of the service; a name may look like one, too."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", text):
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None


def _shown(instant: datetime, zone: ZoneInfo) -> str:
    return f"{instant.astimezone(zone):%Y-%m-%d %H:%M %Z}"


def _domain_of(sender: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "", sender.rpartition("@")[2]) or "blazar.invalid"


def _entry(delivery: Delivery) -> bytes | None:
    """Return the lease for calendars, if the notice is about its dates."""
    lease = delivery.data.get("lease")
    if delivery.type not in _ATTACHED or not isinstance(lease, Mapping):
        return None
    return calendar_entry(lease, delivery.at, is_cancelled=delivery.type == NoticeType.DELETED)


def _line(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())
