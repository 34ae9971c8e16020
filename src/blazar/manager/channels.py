"""The channels of a manager, and the sender that delivers notices through them."""

from __future__ import annotations

from email.utils import parseaddr
from pathlib import Path

from oslo_config.cfg import ConfigOpts

from blazar.booking.addresses import Addresses
from blazar.booking.context import Context
from blazar.channels.letters import Letters, LetterSettings
from blazar.channels.mail import Mail, MailServer, Security
from blazar.channels.webhook import Webhooks, WebhookSettings
from blazar.cloud.openstack.executor import ThreadedExecutor
from blazar.domain.mail_addresses import domain_of
from blazar.domain.subscriptions import ChannelKind
from blazar.manager.plugins import PluginError
from blazar.ports.notices import Channel
from blazar.reconcile.notices import NoticeSender


def make_notice_sender(conf: ConfigOpts, context: Context) -> NoticeSender:
    """Return the sender that delivers notices through the configured channels.

    Raises:
        PluginError: A channel cannot use the configuration; the message names the option.
    """
    settings = context.settings.notices
    channels: dict[ChannelKind, Channel] = {}
    if ChannelKind.WEBHOOK in settings.channels:
        channels[ChannelKind.WEBHOOK] = _make_webhooks(conf, context)
    if ChannelKind.MAIL in settings.channels:
        channels[ChannelKind.MAIL] = _make_mail(conf, context)
    return NoticeSender(context, channels, ThreadedExecutor(settings.workers))


def _make_mail(conf: ConfigOpts, context: Context) -> Mail:
    options, settings = conf.notices, context.settings.notices
    for name in ("mail_server", "mail_sender"):
        if not options[name]:
            raise PluginError(f"[notices] {name}: must be set for the channel mail")
    if domain_of(parseaddr(options.mail_sender)[1]) is None:
        raise PluginError("[notices] mail_sender: must be an address, such as Name <name@example.org>")
    letters = LetterSettings(
        sender=options.mail_sender,
        template_folder=Path(options.template_folder) if options.template_folder else None,
        time_zone=settings.time_zone,
        language=settings.languages[0],
    )
    server = MailServer(
        host=options.mail_server,
        port=options.mail_port,
        security=Security(options.mail_security),
        user=options.mail_user,
        password=options.mail_password,
        timeout_seconds=options.mail_timeout_seconds,
        ca_file=_read_ca_file(conf, "mail_cafile"),
    )
    try:
        return Mail(server, Letters(letters), Addresses(context).find)
    except ValueError as error:
        raise PluginError(f"[notices] template_folder: {error}") from error


def _read_ca_file(conf: ConfigOpts, option: str) -> str | None:
    path: str | None = conf.notices[option]
    if path and not Path(path).is_file():
        raise PluginError(f"[notices] {option}: file {path} does not exist")
    return path or None


def _make_webhooks(conf: ConfigOpts, context: Context) -> Webhooks:
    return Webhooks(
        WebhookSettings(
            rules=context.settings.notices.webhook_rules,
            timeout_seconds=conf.notices.webhook_timeout_seconds,
            ca_file=_read_ca_file(conf, "webhook_cafile"),
        )
    )
