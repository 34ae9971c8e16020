"""Options of group ``notices``: notices to people, by mail and with webhooks."""

from __future__ import annotations

import ipaddress

from oslo_config import cfg, types

from blazar.domain.notices import OF_SITE, NoticeType
from blazar.domain.subscriptions import ChannelKind


class Network(types.ConfigType):
    """A network in CIDR notation."""

    def __init__(self) -> None:
        super().__init__(type_name="network value")

    def __call__(self, value: object) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """Return the network. Raises ValueError."""
        return ipaddress.ip_network(str(value))

    def __eq__(self, other: object) -> bool:
        """Return whether *other* is this type; all networks have the same."""
        return isinstance(other, Network)

    def __hash__(self) -> int:
        """Return a number that is equal for equal types."""
        return hash(Network)

    def __repr__(self) -> str:
        """Return the name of the type."""
        return "Network"

    def _formatter(self, value: object) -> str:
        return str(value)


NOTICE_OPTIONS: list[cfg.Opt] = [
    cfg.ListOpt(
        "channels",
        item_type=types.String(choices=[each.value for each in ChannelKind]),
        default=[],
        help="Channels that deliver notices of leases to lessees and operators: mail, webhook. "
        "Mail needs mail_server and mail_sender. With webhook, managers send HTTPS requests to URLs that "
        "lessees name. The default is empty: there are no notices, and subscriptions are refused.",
    ),
    cfg.ListOpt(
        "lead_minutes",
        item_type=types.Integer(min=1, max=43200),
        default=[1440, 60],
        help="Minutes before the start and the end of a lease at which subscribers who name no times are "
        "reminded. Empty for no reminders by default.",
    ),
    cfg.ListOpt(
        "default_events",
        item_type=types.String(choices=[each.value for each in NoticeType if each not in OF_SITE]),
        default=[],
        help="Notices that the user who created a lease gets by mail without a subscription. The service "
        "makes one for each such user, who can change or disable it. The default is empty: none.",
    ),
    cfg.IntOpt(
        "check_interval_seconds",
        default=60,
        min=0,
        help="Seconds between two checks for reminders, for expired offers and for the conditions of "
        "operators' subscriptions; 0 for none of these notices.",
    ),
    cfg.IntOpt(
        "workers",
        default=8,
        min=1,
        help="Notices that one manager delivers at the same time; at most a quarter of them for one project.",
    ),
    cfg.IntOpt(
        "max_subscriptions_per_project",
        default=20,
        min=0,
        help="Subscriptions that a project may have; 0 for no limit.",
    ),
    cfg.IntOpt(
        "max_undelivered",
        default=1000,
        min=0,
        help="Undelivered notices above which a subscription is disabled; 0 for no limit.",
    ),
    cfg.IntOpt(
        "longest_retry_minutes",
        default=60,
        min=1,
        help="Longest delay in minutes between two attempts to deliver a notice, even if a receiver asks for "
        "a longer one. The first delay is 10 seconds, and each is twice the one before.",
    ),
    cfg.IntOpt(
        "give_up_hours",
        default=24,
        min=1,
        help="Hours after which delivery of a notice is given up. A subscription whose receiver accepted "
        "nothing for that long is disabled; its owner sees why, and can enable it again. Failures of the "
        "mail server or of Keystone disable no subscription.",
    ),
    cfg.IntOpt(
        "keep_failed_days",
        default=7,
        min=0,
        help="Days for which notices whose delivery was given up are kept; 0 for no limit.",
    ),
    cfg.FloatOpt(
        "webhook_timeout_seconds",
        default=10,
        min=0.1,
        help="Seconds for one request of a webhook, from resolving the name to the end of the answer.",
    ),
    cfg.BoolOpt(
        "webhook_http_allowed",
        default=False,
        help="Allow URLs with http:// in addition to https://. Anyone on the way can then read the notices.",
    ),
    cfg.ListOpt(
        "webhook_ports",
        item_type=types.Integer(min=1, max=65535),
        default=[443, 8443],
        help="Ports that URLs of webhooks may have. Empty for all.",
    ),
    cfg.ListOpt(
        "webhook_allowed_networks",
        item_type=Network(),
        default=[],
        help="Networks that webhooks may reach although they are loopback, private, link-local or reserved, "
        "for example 10.20.0.0/16. Lessees can then make managers call every server there. The default "
        "is empty: only public addresses can be reached.",
    ),
    cfg.ListOpt(
        "webhook_refused_networks",
        item_type=Network(),
        default=[],
        help="Public networks that webhooks must not reach, for example those whose servers trust the "
        "addresses of managers. The default is empty.",
    ),
    cfg.HostAddressOpt(
        "mail_server",
        help="Host of the mail server, which the channel mail requires.",
    ),
    cfg.PortOpt("mail_port", default=587, min=1, help="Port of the mail server."),
    cfg.StrOpt(
        "mail_security",
        default="starttls",
        choices=["none", "starttls", "tls"],
        help="Security of the connection to the mail server: STARTTLS, TLS from the beginning (usually with "
        "port 465), or none (usually with port 25). Mail is not sent without the chosen one.",
    ),
    cfg.StrOpt("mail_user", help="User name at the mail server; by default, no login."),
    cfg.StrOpt("mail_password", secret=True, help="Password at the mail server."),
    cfg.StrOpt(
        "mail_sender",
        help="Value of the header From, such as: Reservations <noreply@cloud.example.org>. The channel mail "
        "requires it.",
    ),
    cfg.FloatOpt(
        "mail_timeout_seconds",
        default=10,
        min=0.1,
        help="Seconds for each answer of the mail server.",
    ),
    cfg.StrOpt(
        "mail_cafile",
        help="File of certificate authorities for the mail server; those of the system by default.",
    ),
    cfg.ListOpt(
        "mail_domains",
        default=[],
        help="Domains to whose addresses mail can be sent, in addition to users' own addresses in Keystone. "
        "Such an address gets nothing before it is confirmed with a code that is mailed to it, once a day at "
        "most. The default is empty: only users' own addresses.",
    ),
    cfg.StrOpt(
        "template_folder",
        help="Folder of templates that replace those of the distribution, with a folder for each language, "
        "such as en and de. By default, the distribution's templates in English.",
    ),
    cfg.StrOpt(
        "time_zone",
        default="UTC",
        help="Time zone of dates in mail to subscribers who name none, such as Europe/Berlin.",
    ),
    cfg.StrOpt(
        "language",
        default="en",
        help="Language of mail to subscribers who name none; there must be templates for it.",
    ),
    cfg.StrOpt(
        "webhook_cafile",
        help="File of certificate authorities for webhooks; those of the system by default.",
    ),
]
