"""The configuration of a nova-scheduler, which commands compare with what reservations need."""

from __future__ import annotations

from oslo_config import cfg

from blazar.domain.errors import InvalidParameter
from blazar.planning.nova import NovaConf


def read_nova_conf(name: str) -> NovaConf:
    """Return the configuration of a nova-scheduler. Raises InvalidParameter."""
    sections: dict[str, dict[str, list[str]]] = {}
    try:
        cfg.ConfigParser(name, sections).parse()
    except (cfg.ParseError, OSError, UnicodeDecodeError) as error:
        raise InvalidParameter("--nova-conf", f"{name} cannot be read: {error}") from error
    return NovaConf(name=name, values=sections)
