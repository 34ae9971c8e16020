"""The spec of a ``virtual:floatingip`` reservation, in requests, responses and the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.plugins.floatingips.floatingip import parse_address
from blazar.plugins.parameters import parse_number

FLOATING_IP_KEYS = ("network_id", "amount", "required_floatingips")
"""The keys of a reservation."""
MADE = "made_floatingips"
"""The key of the created floating IPs in the store."""

_LONGEST_ID = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatingIPSpec:
    """The number of floating IPs, their network, and the required addresses in canonical form."""

    network_id: str
    amount: int
    required: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)
    """The Neutron ids of the floating IPs created for it, by resource; set only by the service."""


def parse_spec(body: Mapping[str, object]) -> FloatingIPSpec:
    """Return the spec of a new reservation.

    Some clients send unset keys as null, so null requires no address.

    Raises:
        MissingParameter, InvalidParameter: A key is missing or invalid.
    """
    missing = [key for key in ("network_id", "amount") if key not in body]
    if missing:
        raise MissingParameter(*missing)
    required = body.get("required_floatingips")
    spec = FloatingIPSpec(
        network_id=_parse_network(body["network_id"]),
        amount=parse_number(body, "amount", least=0),
        required=() if required is None else _parse_required(required),
    )
    return _checked(spec)


def revise_spec(spec: FloatingIPSpec, changes: Mapping[str, object], *, is_active: bool) -> FloatingIPSpec:
    """Return *spec* with the keys of an update; keys that are not sent keep their values.

    The network is fixed. While the reservation is active, the required addresses can only be emptied.

    Raises:
        MissingParameter, InvalidParameter: A key is missing, invalid or fixed.
    """
    if "network_id" in changes and changes["network_id"] != spec.network_id:
        raise InvalidParameter("network_id", "cannot be changed")
    amount = parse_number(changes, "amount", least=0) if "amount" in changes else spec.amount
    required = spec.required
    if "required_floatingips" in changes:
        required = _parse_required(changes["required_floatingips"])
        if set(required) == set(spec.required):
            required = spec.required
        elif required and is_active:
            raise InvalidParameter(
                "required_floatingips", "can only be emptied while the reservation is active"
            )
    return _checked(replace(spec, amount=amount, required=required))


def encode_spec(spec: FloatingIPSpec) -> Mapping[str, object]:
    """Return the spec in its stored form; clients see it without :data:`MADE`."""
    return {**render_spec(spec), MADE: dict(spec.made)}


def decode_spec(stored: Mapping[str, Any]) -> FloatingIPSpec:
    """Return the spec from its stored form."""
    return replace(parse_spec(stored), made=stored.get(MADE, {}))


def render_spec(spec: FloatingIPSpec) -> Mapping[str, object]:
    """Return the spec in the form of the REST API."""
    return {
        "network_id": spec.network_id,
        "amount": spec.amount,
        "required_floatingips": list(spec.required),
    }


def _parse_network(value: object) -> str:
    if not isinstance(value, str) or not value or len(value) > _LONGEST_ID:
        raise InvalidParameter("network_id", "must be the id of a network")
    return value


def _parse_required(value: object) -> tuple[str, ...]:
    """Return the addresses in canonical form. Raises InvalidParameter."""
    if not isinstance(value, list):
        raise InvalidParameter("required_floatingips", "must be a list of IP addresses")
    found = tuple(str(parse_address("required_floatingips", each)) for each in value)
    if len(set(found)) < len(found):
        raise InvalidParameter("required_floatingips", "has an address twice")
    return found


def _checked(spec: FloatingIPSpec) -> FloatingIPSpec:
    if len(spec.required) > spec.amount:
        raise InvalidParameter(
            "required_floatingips", f"names {len(spec.required)} addresses, more than amount: {spec.amount}"
        )
    return spec
