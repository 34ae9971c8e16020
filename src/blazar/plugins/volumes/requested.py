"""Volumes that a reservation requests to be created at its start: their form, and their places. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from blazar.domain.errors import InvalidParameter
from blazar.domain.lease import is_canonical_id
from blazar.plugins.contract import AllocatedResource
from blazar.plugins.parameters import parse_number

MOST_VOLUMES: Final = 100
LONGEST_NAME: Final = 255
"""The longest name of a volume in Cinder."""

_KEYS: Final = frozenset({"size", "name", "image", "id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedVolume:
    """A volume with a size in GiB; ``image`` is the id of the image that is copied to it."""

    size: int
    name: str
    image: str | None = None


def parse_volumes(value: object) -> tuple[RequestedVolume, ...]:
    """Return the volumes of a request; ``id`` is ignored, because it only has a meaning in answers.

    Raises:
        MissingParameter, InvalidParameter: A value is missing or invalid.
    """
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MOST_VOLUMES:
        raise InvalidParameter("volumes", f"must be a list of at most {MOST_VOLUMES} volumes")
    return tuple(_parse(each, f"volumes[{place}]") for place, each in enumerate(value))


def _parse(value: object, where: str) -> RequestedVolume:
    if not isinstance(value, Mapping):
        raise InvalidParameter(where, "must be an object with size, name and optionally image")
    for key in value:
        if key not in _KEYS:
            raise InvalidParameter(f"{where}.{str(key)[:64]}", "is not known; the keys are size, name, image")
    size, name, image = (f"{where}.{key}" for key in ("size", "name", "image"))
    return RequestedVolume(
        size=parse_number({size: value.get("size")}, size, least=1),
        name=_parse_name(value.get("name"), name),
        image=_parse_image(value.get("image"), image),
    )


def _parse_name(value: object, where: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME or not value.isprintable():
        raise InvalidParameter(where, f"must be text of 1 to {LONGEST_NAME} printable characters")
    return value


def _parse_image(value: object, where: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not is_canonical_id(value):
        raise InvalidParameter(where, "must be the id of an image, a UUID, or null")
    return value


def render_volumes(
    volumes: Sequence[RequestedVolume], ids: Sequence[str | None]
) -> list[Mapping[str, object]]:
    """Return volumes as in answers, each with the id of the created volume, or null."""
    known = [*ids, *[None] * (len(volumes) - len(ids))]
    return [
        {"size": each.size, "name": each.name, "image": each.image, "id": made}
        for each, made in zip(volumes, known, strict=True)
    ]


def find_parts(volumes: Sequence[RequestedVolume], gibibytes: int, amount: int) -> Sequence[int]:
    """Return the part of each volume, counted from 0: large volumes first, each in the first that has room.

    Raises:
        InvalidParameter: They do not fit.
    """
    left = [gibibytes] * min(amount, len(volumes))
    parts = [0] * len(volumes)
    for place in sorted(range(len(volumes)), key=lambda each: -volumes[each].size):
        size = volumes[place].size
        part = next((number for number, room in enumerate(left) if room >= size), None)
        if part is None:
            raise InvalidParameter(
                "volumes", f"do not fit into amount: {amount} parts of gibibytes: {gibibytes} GiB"
            )
        left[part] -= size
        parts[place] = part
    return parts


def find_places(
    volumes: Sequence[RequestedVolume], gibibytes: int, resources: Sequence[AllocatedResource]
) -> Mapping[str, Sequence[int]]:
    """Return the numbers of the volumes that belong in each pool, without those that do not fit."""
    pools = [
        each.id
        for each in sorted(resources, key=lambda each: each.id)
        for _ in range(min(0 if each.share is None else each.share.slots, len(volumes)))
    ]
    places: dict[str, list[int]] = {}
    try:
        parts = find_parts(volumes, gibibytes, len(pools))
    except InvalidParameter:
        return {}
    for number, part in enumerate(parts):
        places.setdefault(pools[part], []).append(number)
    return places
