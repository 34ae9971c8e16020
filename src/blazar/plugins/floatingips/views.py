"""Floating IPs as JSON: for API v1, and for enforcement filters."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from blazar.booking.views import JsonObject
from blazar.domain.formats import API, USAGE, Formats
from blazar.domain.lease import ResourceId
from blazar.plugins.floatingips.floatingip import FloatingIP
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.ports.store import Transaction


def floatingip_view(floatingip: FloatingIP, formats: Formats = API) -> JsonObject:
    """Return a floating IP."""
    return {
        "id": floatingip.id,
        "floating_network_id": floatingip.network_id,
        "subnet_id": floatingip.subnet_id,
        "floating_ip_address": floatingip.address,
        "reservable": floatingip.diagnosis.is_reservable,
        "created_at": formats.stamp(floatingip.created_at),
        "updated_at": formats.stamp(floatingip.updated_at),
    }


def describe_floatingips(
    transaction: Transaction, floatingip_ids: Collection[ResourceId]
) -> Mapping[ResourceId, JsonObject]:
    """Return the given resources that are floating IPs, as filters receive them."""
    floatingips = transaction.of(FLOATING_IP_STORE).get_many(floatingip_ids)
    return {each.id: floatingip_view(each, USAGE) for each in floatingips}
