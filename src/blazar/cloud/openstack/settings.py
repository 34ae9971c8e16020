"""Checked values of the options for a service and the connection to it."""

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
    """An invalid or missing option; the message names its group and name."""

    def __init__(self, group: str, option: str, problem: str) -> None:
        super().__init__(f"[{group}] {option}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The parameters of the connection to a service."""

    verify: bool | str
    """False to accept any certificate; otherwise True, or the file or folder of CA certificates."""
    certificate: str | tuple[str, str] | None
    """The file of a client certificate, or the files of the certificate and its key."""
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """The location of a service: its key in Keystone's catalog, or its URL."""

    service_type: str
    service_name: str | None
    interfaces: tuple[str, ...]
    region: str | None
    url: str | None
    """Used instead of the catalog; may contain ``%(project_id)s``."""
    version: str | None
    """Appended to a URL without a version; None if the service's URLs have no version."""


def read_connection(conf: cfg.ConfigOpts, group: str) -> Connection:
    """Return the connection parameters for the service of a group.

    Raises:
        OptionError: A value is invalid, or a file does not exist.
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
    """Return the location of the service of a group.

    Raises:
        OptionError: A value is invalid.
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
    """Return the microversion for hypervisors, at most 2.87.

    Raises:
        OptionError: The value is not a version 2 of Nova's API.
    """
    text = read(conf, NOVA, "nova_client_version")
    match = re.fullmatch(r"2(?:\.([1-9][0-9]*|latest))?|latest", text)
    if match is None:
        raise OptionError(NOVA, "nova_client_version", f"must be 2, 2.<number> or latest, not {text}")
    if text.endswith("latest"):
        return 2, _LAST_WITH_SIZES
    return 2, min(int(match[1] or 1), _LAST_WITH_SIZES)


def check_url(url: str, group: str, option: str) -> None:
    """Raise OptionError unless the value is the URL of an HTTP service."""
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise OptionError(group, option, "must be a URL with http:// or https:// and a host")


def read(conf: cfg.ConfigOpts, group: str, option: str) -> Any:
    """Return the value of an option. Raises OptionError if the value does not have the option's type."""
    try:
        return conf[option] if group == "DEFAULT" else conf[group][option]
    except cfg.Error as error:
        raise OptionError(group, option, str(error)) from error


def _file(conf: cfg.ConfigOpts, group: str, option: str) -> str | None:
    path: str | None = read(conf, group, option)
    if path and not Path(path).exists():
        raise OptionError(group, option, f"file {path} does not exist")
    return path or None
