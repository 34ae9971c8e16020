"""Options of the OpenStack adapters: locations of the services, and credentials.

Names, groups and defaults of the existing service are accepted, in addition to the usual options of
keystoneauth. ``version``, ``min_version`` and ``max_version`` are missing, because every call pins its own
microversion, and so are the numbers of retries, because the reconciler retries.
"""

from __future__ import annotations

import copy

from oslo_config import cfg, types

KEYSTONE = "keystone"
NOVA = "nova"
PLACEMENT = "placement"
NEUTRON = "neutron"
GLANCE = "glance"
CINDER = "cinder"

_INTERFACES = ["public", "internal", "admin"]
_WITHOUT_EFFECT = "Accepted for compatibility, without effect: Keystone's URL is part of the credentials."

KEYSTONE_OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "os_auth_protocol",
        default="http",
        choices=["http", "https"],
        help="Scheme of Keystone's URL; like all options whose names begin with os_auth or os_admin, it is "
        "used by services whose group and [keystone] have neither auth_type nor auth_section.",
    ),
    cfg.HostAddressOpt(
        "os_auth_host", default="127.0.0.1", help="Host of Keystone's URL; IPv6 addresses without brackets."
    ),
    cfg.PortOpt("os_auth_port", default=5000, help="Port of Keystone's URL."),
    cfg.StrOpt("os_auth_prefix", default="", help="Path of Keystone's URL, before the version."),
    cfg.StrOpt("os_auth_version", default="v3", choices=["v3"], help="Version at the end of Keystone's URL."),
    cfg.StrOpt("os_admin_username", default="admin", help="Name of the service user."),
    cfg.StrOpt("os_admin_password", default="blazar", secret=True, help="Password of the service user."),
    cfg.StrOpt("os_admin_project_name", default="admin", help="Project in which the service user is admin."),
    cfg.StrOpt("os_admin_user_domain_name", default="Default", help="Domain of the service user."),
    cfg.StrOpt("os_admin_project_domain_name", default="Default", help="Domain of that project."),
    cfg.StrOpt(
        "cafile",
        help="File with CA certificates (PEM) for outgoing TLS to services whose group has none; "
        "the system's certificates by default.",
    ),
    cfg.StrOpt("endpoint_type", default="internal", choices=_INTERFACES, help=_WITHOUT_EFFECT),
    cfg.StrOpt("identity_service", default="identity", help=_WITHOUT_EFFECT),
    cfg.StrOpt("keystone_client_version", default="3", help=_WITHOUT_EFFECT),
]
"""Options of ``[DEFAULT]``, as in the existing service."""


def _connection_options() -> list[cfg.Opt]:
    return [
        cfg.StrOpt("cafile", help="File with CA certificates (PEM); [DEFAULT] cafile by default."),
        cfg.StrOpt("certfile", help="File with a client certificate (PEM); none by default."),
        cfg.StrOpt("keyfile", help="File with the client certificate's key; in certfile by default."),
        cfg.BoolOpt("insecure", default=False, help="Accept any server certificate."),
        cfg.FloatOpt(
            "timeout",
            default=30,
            min=0.1,
            help="Seconds that a call waits for the connection, and then for each part of the answer.",
        ),
    ]


def _endpoint_options(group: str, service_type: str, former_type: list[cfg.DeprecatedOpt]) -> list[cfg.Opt]:
    return [
        cfg.StrOpt(
            "service_type",
            default=service_type,
            deprecated_opts=former_type,
            help="Type of the service in Keystone's catalog.",
        ),
        cfg.StrOpt("service_name", help="Name of the service in Keystone's catalog; any by default."),
        cfg.ListOpt(
            "valid_interfaces",
            default=["internal"],
            item_type=types.String(choices=_INTERFACES),
            deprecated_opts=[cfg.DeprecatedOpt("endpoint_type", group=group)],
            help="Interfaces of the endpoint, the best first.",
        ),
        cfg.StrOpt("region_name", help="Region of the endpoint; [DEFAULT] os_region_name by default."),
        cfg.StrOpt(
            "endpoint_override",
            help="URL of the service, instead of the one in Keystone's catalog; with or without a version.",
        ),
    ]


_NOVA_CLIENT_VERSION = cfg.StrOpt(
    "nova_client_version",
    default="2",
    deprecated_group="DEFAULT",
    help="Microversion for calls about hypervisors. From 2.53 on, their ids, and so those of "
    "hosts, are UUIDs; do not change it while hosts are registered. 2 means 2.1; a later version than 2.87 "
    "means 2.87, the last one in which hypervisors have sizes.",
)

_FORMER_COMPUTE_SERVICE = [
    cfg.DeprecatedOpt("compute_service", group=NOVA),
    cfg.DeprecatedOpt("compute_service", group="DEFAULT"),
]

_GROUPS: dict[str | None, list[cfg.Opt]] = {
    None: KEYSTONE_OPTIONS,
    KEYSTONE: [*_endpoint_options(KEYSTONE, "identity", []), *_connection_options()],
    NOVA: [
        _NOVA_CLIENT_VERSION,
        *_endpoint_options(NOVA, "compute", _FORMER_COMPUTE_SERVICE),
        *_connection_options(),
    ],
    PLACEMENT: [*_endpoint_options(PLACEMENT, "placement", []), *_connection_options()],
    NEUTRON: [*_endpoint_options(NEUTRON, "network", []), *_connection_options()],
    GLANCE: [*_endpoint_options(GLANCE, "image", []), *_connection_options()],
    CINDER: [*_endpoint_options(CINDER, "block-storage", []), *_connection_options()],
}

CREDENTIAL_GROUPS = frozenset(group for group in _GROUPS if group is not None)
"""Groups that also have the options of keystoneauth: those of the services."""


def register(conf: cfg.ConfigOpts) -> None:
    """Register all options except those of keystoneauth, which depend on the chosen ``auth_type``."""
    for group, options in _GROUPS.items():
        conf.register_opts(options, group=group)


def list_opts() -> list[tuple[str | None, list[cfg.Opt]]]:
    """Return the options by group, for ``oslo-config-generator``; for ``auth_type``, those of passwords."""
    # Imported here, because only this function needs it and the import is slow.
    from keystoneauth1 import loading

    credentials = [
        _with_full_stop(option)
        for option in (
            *loading.get_auth_common_conf_options(),
            *loading.get_auth_plugin_conf_options("password"),
        )
    ]
    return [
        (group, options if group is None else [*options, *credentials]) for group, options in _GROUPS.items()
    ]


def _with_full_stop(option: cfg.Opt) -> cfg.Opt:
    changed = copy.copy(option)
    changed.help = f"{(option.help or option.name).rstrip('.')}."
    return changed
