"""The spec of a ``network`` reservation, in requests, responses and the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from blazar.domain.errors import CannotChange, InvalidParameter, MissingParameter
from blazar.domain.expressions import parse
from blazar.domain.requirements import Requirement
from blazar.plugins.parameters import parse_number, parse_properties

NETWORK_KEYS: Final = (
    "amount",
    "network_name",
    "network_description",
    "network_properties",
    "resource_properties",
    "before_end",
)
"""The keys of a reservation; only ``network_name`` is required."""
MADE: Final = "made_networks"
"""The key of the created networks in the store."""
LONGEST_TEXT: Final = 200
"""The most characters of a name or description: Neutron allows 255, and the service adds some."""

_BEFORE_END_ACTIONS: Final = ("", "default", "email")
_FIXED_WHILE_ACTIVE: Final = ("network_name", "network_description")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSpec:
    """A number of segments with certain properties, and the name of their networks.

    The two property texts are kept as they were sent; ``requirement`` is their combination.
    """

    network_name: str
    amount: int = 1
    network_description: str = ""
    network_properties: str | None = None
    resource_properties: str | None = None
    before_end: str = "default"
    """Kept for clients that send it: with any value, only the before-end notification is sent."""
    made: Mapping[str, str] = field(default_factory=dict)
    """The ids of the networks created for it, by resource; empty texts for those about to be created. Set
    only by the service."""
    has_records: bool = True
    """False for the substitute of a damaged spec, whose ``made`` is lost."""

    @property
    def requirement(self) -> Requirement:
        """Return the requirement of both property texts together."""
        return parse(self.network_properties, field="network_properties") & parse(
            self.resource_properties, field="resource_properties"
        )


def parse_spec(body: Mapping[str, object]) -> NetworkSpec:
    """Return the spec of a new reservation; null is the default of every key except the name.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement: A key is invalid.
    """
    if body.get("network_name") is None:
        raise MissingParameter("network_name")
    return NetworkSpec(
        amount=1 if body.get("amount") is None else parse_number(body, "amount", least=1),
        network_name=_parse_text(body, "network_name"),
        network_description=_parse_text(body, "network_description"),
        network_properties=parse_properties(body.get("network_properties"), "network_properties"),
        resource_properties=parse_properties(body.get("resource_properties")),
        before_end=_parse_before_end(body.get("before_end")),
    )


def revise_spec(spec: NetworkSpec, changes: Mapping[str, object], *, is_active: bool) -> NetworkSpec:
    """Return *spec* with the keys of an update; keys that are not sent keep their values.

    Raises:
        InvalidParameter, InvalidRequirement: A key is invalid.
        CannotChange: The reservation is active, and a name or description would change.
    """
    after = replace(parse_spec({**render_spec(spec), **changes}), made=spec.made)
    fixed = [each for each in _FIXED_WHILE_ACTIVE if getattr(after, each) != getattr(spec, each)]
    if is_active and fixed:
        raise CannotChange(
            f"{', '.join(fixed)}: cannot be changed while the reservation is active; change the network in"
            " Neutron instead"
        )
    return after


def encode_spec(spec: NetworkSpec) -> Mapping[str, object]:
    """Return the spec in its stored form; clients see it without :data:`MADE`."""
    return {**render_spec(spec), MADE: dict(spec.made)}


def decode_spec(stored: Mapping[str, Any]) -> NetworkSpec:
    """Return the spec from its stored form."""
    return replace(parse_spec(stored), made=stored.get(MADE, {}))


def render_spec(spec: NetworkSpec) -> Mapping[str, object]:
    """Return the spec in the form of the REST API."""
    return {key: getattr(spec, key) for key in NETWORK_KEYS}


def _parse_text(body: Mapping[str, object], key: str) -> str:
    value = body.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or not (value == "" or value.isprintable()):
        raise InvalidParameter(key, f"must be text of at most {LONGEST_TEXT} printable characters")
    return value


def _parse_before_end(value: object) -> str:
    if value is None:
        return "default"
    if not isinstance(value, str) or value not in _BEFORE_END_ACTIONS:
        raise InvalidParameter("before_end", "must be one of '', 'default', 'email'")
    return value
