"""What the configuration says of a service and of the connection to it, checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from oslo_config import cfg

from blazar.cloud.openstack.options import NOVA

_LAST_WITH_SIZES = 87


class OptionError(ValueError):
    """The configuration cannot be used as it stands; the message names group and option."""

    def __init__(self, group: str, option: str, problem: str) -> None:
        super().__init__(f"[{group}] {option}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How a service is spoken to."""

    verify: bool | str
    """Whether certificates are checked, or the file or folder of CA certificates for it."""
    certificate: str | tuple[str, str] | None
    """The file of a client certificate, or those of the certificate and its key."""
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a service is: what its entry in Keystone's catalog is known by, or its URL."""

    service_type: str
    service_name: str | None
    interfaces: tuple[str, ...]
    region: str | None
    url: str | None
    """Used instead of the catalog; may hold ``%(project_id)s``."""
    version: str | None
    """Put at the end of a URL in which no version is; None where a service's URLs have none."""


def read_connection(conf: cfg.ConfigOpts, group: str) -> Connection:
    """Return how the service of a group is spoken to.

    Raises:
        OptionError: A value cannot be used, or a file does not exist.
    """
    cafile = _file(conf, group, "cafile") or _file(conf, "DEFAULT", "cafile")
    certfile, keyfile = _file(conf, group, "certfile"), _file(conf, group, "keyfile")
    if keyfile and not certfile:
        raise OptionError(group, "certfile", "is not set, though keyfile is")
    return Connection(
        verify=not read(conf, group, "insecure") and (cafile or True),
        certificate=(certfile, keyfile) if certfile and keyfile else certfile,
        timeout_seconds=read(conf, group, "timeout"),
    )


def read_location(conf: cfg.ConfigOpts, group: str, version: str | None) -> Location:
    """Return where the service of a group is.

    Raises:
        OptionError: A value cannot be used.
    """
    url = read(conf, group, "endpoint_override")
    if url:
        check_url(url, group, "endpoint_override")
    interfaces = tuple(read(conf, group, "valid_interfaces"))
    if not interfaces:
        raise OptionError(group, "valid_interfaces", "must name at least one of public, internal, admin")
    return Location(
        service_type=read(conf, group, "service_type"),
        service_name=read(conf, group, "service_name"),
        interfaces=interfaces,
        region=read(conf, group, "region_name") or conf.os_region_name,
        url=url or None,
        version=version,
    )


def read_hypervisor_version(conf: cfg.ConfigOpts) -> tuple[int, int]:
    """Return the microversion with which hypervisors are asked for, at most 2.87.

    Raises:
        OptionError: It is no version 2 of Nova's API.
    """
    text = read(conf, NOVA, "nova_client_version")
    match = re.fullmatch(r"2(?:\.([1-9][0-9]*|latest))?|latest", text)
    if match is None:
        raise OptionError(NOVA, "nova_client_version", f"{text} is neither 2, nor 2.<number>, nor latest")
    if text.endswith("latest"):
        return 2, _LAST_WITH_SIZES
    return 2, min(int(match[1] or 1), _LAST_WITH_SIZES)


def check_url(url: str, group: str, option: str) -> None:
    """Raise OptionError unless this is the URL of an HTTP service."""
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise OptionError(group, option, "is no URL with http:// or https:// and a host")


def read(conf: cfg.ConfigOpts, group: str, option: str) -> Any:
    """Return the value of an option. Raises OptionError if it is none of the option's type."""
    try:
        return conf[option] if group == "DEFAULT" else conf[group][option]
    except cfg.Error as error:
        raise OptionError(group, option, str(error)) from error


def _file(conf: cfg.ConfigOpts, group: str, option: str) -> str | None:
    path: str | None = read(conf, group, option)
    if path and not Path(path).exists():
        raise OptionError(group, option, f"there is no file {path}")
    return path or None
