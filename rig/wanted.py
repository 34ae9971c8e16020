"""What a stack is to consist of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cloudlab.files import Option, Sections
from cloudlab.wsgi import Workers

Database = Literal["mariadb", "postgresql"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The parts of a stack, and how they are set up."""

    database: Database = "mariadb"
    managers: int = 2
    api: Workers = field(default_factory=lambda: Workers(processes=2))
    has_web_server: bool = False
    """Whether nginx stands in front of the API, as the guide for operators has it."""
    hosts: int | None = 4
    """Of the simulated OpenStack; none is registered with the service at first. Without an OpenStack, for
    None, each manager has a cloud in its memory."""
    latency_ms: float = 0
    """What each of its calls takes at least."""
    options: Sections = field(default_factory=dict)
    """Sections of blazar.conf that are added to, or stand instead of, what it has anyway."""


def merged(sections: Sections, more: Sections) -> Sections:
    """Return the sections with the options of both; those of *more* win."""
    names = dict.fromkeys([*sections, *more])
    nothing: Mapping[str, Option] = {}
    return {name: {**sections.get(name, nothing), **more.get(name, nothing)} for name in names}
