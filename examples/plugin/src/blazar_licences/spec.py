"""The spec of a ``software:licence`` reservation, in requests, responses and the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.plugins.parameters import parse_number

_LONGEST_PRODUCT = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class LicenceSpec:
    """A product, the number of seats, and the ids of the grants once they exist."""

    product: str
    seats: int
    grants: tuple[str, ...] = ()


def parse_spec(body: Mapping[str, object]) -> LicenceSpec:
    """Return the spec of a new reservation.

    Raises:
        MissingParameter, InvalidParameter: A key is missing or invalid.
    """
    missing = [key for key in ("product", "seats") if body.get(key) is None]
    if missing:
        raise MissingParameter(*missing)
    return LicenceSpec(product=_parse_product(body["product"]), seats=parse_number(body, "seats", least=1))


def revise_spec(spec: LicenceSpec, changes: Mapping[str, object]) -> LicenceSpec:
    """Return *spec* with the keys of an update; the product is fixed.

    Raises:
        InvalidParameter: A key is invalid or fixed.
    """
    if "product" in changes and changes["product"] != spec.product:
        raise InvalidParameter("product", "cannot be changed")
    return replace(spec, seats=parse_number(changes, "seats", least=1)) if "seats" in changes else spec


def encode_spec(spec: LicenceSpec) -> Mapping[str, object]:
    """Return the spec in the form of the REST API and the store."""
    return {"product": spec.product, "seats": spec.seats, "grants": list(spec.grants)}


def decode_spec(stored: Mapping[str, object]) -> LicenceSpec:
    """Return the spec from its stored form."""
    grants = stored.get("grants")
    assert isinstance(grants, list)
    return replace(parse_spec(stored), grants=tuple(grants))


def _parse_product(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_PRODUCT:
        raise InvalidParameter("product", f"must be text of 1 to {_LONGEST_PRODUCT} characters")
    return value
