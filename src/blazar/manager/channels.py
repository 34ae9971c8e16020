"""The channels of a manager, and what delivers notices by them."""

from __future__ import annotations

from pathlib import Path

from oslo_config.cfg import ConfigOpts

from blazar.booking.context import Context
from blazar.channels.webhook import Webhooks, WebhookSettings
from blazar.cloud.openstack.executor import ThreadedExecutor
from blazar.domain.subscriptions import ChannelKind
from blazar.manager.plugins import PluginError
from blazar.ports.notices import Channel
from blazar.reconcile.notices import NoticeSender


def make_notice_sender(conf: ConfigOpts, context: Context) -> NoticeSender:
    """Return what delivers notices by the configured channels.

    Raises:
        PluginError: A channel cannot use the configuration; the message names the option.
    """
    settings = context.settings.notices
    channels: dict[ChannelKind, Channel] = {}
    if ChannelKind.WEBHOOK in settings.channels:
        channels[ChannelKind.WEBHOOK] = _make_webhooks(conf, context)
    return NoticeSender(context, channels, ThreadedExecutor(settings.workers))


def _make_webhooks(conf: ConfigOpts, context: Context) -> Webhooks:
    ca_file: str | None = conf.notices.webhook_cafile
    if ca_file and not Path(ca_file).is_file():
        raise PluginError(f"[notices] webhook_cafile: file {ca_file} does not exist")
    return Webhooks(
        WebhookSettings(
            rules=context.settings.notices.webhook_rules,
            timeout_seconds=conf.notices.webhook_timeout_seconds,
            ca_file=ca_file or None,
        )
    )
