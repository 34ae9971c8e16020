"""Options of group ``ui``: the web console."""

from __future__ import annotations

from oslo_config import cfg

UI_OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "enabled",
        help="Serve the web console under /ui/. By default, only the embedded service does.",
        default=False,
    ),
    cfg.ListOpt(
        "session_keys",
        default=[],
        secret=True,
        help="Secrets of at least 32 characters that encrypt the cookies of sessions. The first encrypts and "
        "all decrypt, so a new one can be put in front. All processes of the API need the same. Empty, the "
        "default, for a random one: then a session is only valid in the process where it began, and ends "
        "with it.",
    ),
    cfg.URIOpt(
        "keystone_url",
        schemes=["http", "https"],
        help="Address of Keystone for sign-in, for the API and, with web SSO, for browsers. By default, "
        "[keystone_authtoken] www_authenticate_uri.",
    ),
    cfg.StrOpt(
        "user_domain",
        default="Default",
        help="Name of the domain of users who name none when they sign in.",
    ),
    cfg.DictOpt(
        "websso",
        default={},
        help="Choices for web single sign-on, as protocol:label or identity provider/protocol:label, for "
        "example openid:Campus login. Keystone must have <public_url>session/websso as a trusted dashboard. "
        "The default is empty: none.",
    ),
    cfg.URIOpt(
        "public_url",
        schemes=["http", "https"],
        help="Address of the console for browsers, such as https://reservations.example.org/ui/. Only web "
        "single sign-on needs it.",
    ),
    cfg.ListOpt(
        "frame_ancestors",
        default=[],
        help="Origins whose pages may show the console in a frame, such as https://dashboard.example.org. "
        "Browsers send the session only if they belong to the same site. The default is empty: none.",
    ),
]
