"""Deletion of floating IPs that may be in use."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.ports.network import FloatingIP, Networks

_ROUNDS: Final = 8
"""The most rounds of one deletion; the lessee may make port forwardings meanwhile."""


def delete_with_uses(networks: Networks, found: FloatingIP) -> None:
    """Detach a floating IP from its port, and delete it with its port forwardings.

    Neutron refuses to delete a floating IP with port forwardings. They are listed only after a refusal, which
    usually does not happen.

    Raises:
        CloudNotFound: It does not exist.
        CloudConflict: Neutron refuses to delete it for another reason, or new port forwardings in each round.
    """
    if found.port_id is not None:
        networks.detach_floating_ip(found.id)
    for _ in range(_ROUNDS):
        try:
            networks.delete_floating_ip(found.id)
        except CloudConflict:
            forwardings = networks.list_port_forwardings(found.id)
            if not forwardings:
                raise
        else:
            return
        for each in forwardings:
            with suppress(CloudNotFound):
                networks.delete_port_forwarding(found.id, each)
    networks.delete_floating_ip(found.id)
