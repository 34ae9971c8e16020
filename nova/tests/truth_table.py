"""The table in the docstring of ``BlazarFilter``, read by machine, and what its words mean.

Nothing here knows the code that decides. By this table the tests in this folder ask the decision, and
those in ``tests_in_nova`` the filter inside of Nova.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src/blazarnova/scheduler/filters/blazar_filter.py"

RESERVATION = "aggregate_instance_extra_specs:reservation"
PREEMPTIBLE = "blazar:preemptible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """An aggregate that a host is in."""

    name: str
    zone: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    closes_host: bool = False
    """Whether its metadata close this very host to preemptible servers."""

    def metadata_on(self, host_name: str) -> Mapping[str, str]:
        """Return all metadata, if that is the host's name."""
        closed = {f"blazar:closed:{host_name}": "R 2031-04-05T20:00:00+00:00"} if self.closes_host else {}
        return {**self.metadata, **closed}


Host = tuple[Membership, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A user's request; ``hint`` is as the user writes it: one id, a list of ids, or nothing."""

    project_id: str | None
    hint: str | list[str] | None = None
    extra_specs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of ``nova.conf``, by their names there."""

    aggregate_freepool_name: str = "freepool"
    blazar_owner: str = "blazar:owner"
    blazar_az_prefix: str = "blazar_"
    allow_preemptibles: bool = False
    preemptible_aggregate: str = "freepool"
    allow_preemptibles_on_ordinary_hosts: bool = False

    def as_text(self) -> str:
        """Return their section of ``nova.conf``."""
        lines = [f"{name} = {value}" for name, value in dataclasses.asdict(self).items()]
        return "\n".join(["[blazar:physical:host]", *lines, ""])


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the table: its cells as they stand there, and the result."""

    number: int
    hint: str
    reservation: str
    preemptible: str
    host: str
    passes: bool


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows from the top."""
    (filter_class,) = (
        node for node in ast.parse(SOURCE.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)
    )
    docstring = ast.get_docstring(filter_class) or ""
    rules = re.findall(r"^=+ [= ]+$", docstring, flags=re.MULTILINE)
    _, _, body, _ = docstring.split(rules[0])
    starts = [match.start() for match in re.finditer(r"=+", rules[0])]

    found: list[list[str]] = []
    for line in body.strip("\n").splitlines():
        cells = [line[start:end].strip() for start, end in zip(starts, [*starts[1:], len(line)], strict=True)]
        if cells[0]:
            found.append(cells)
        else:
            found[-1] = [f"{above} {below}".strip() for above, below in zip(found[-1], cells, strict=True)]
    return tuple(
        Row(
            number=int(number),
            hint=hint,
            reservation=reservation,
            preemptible=preemptible,
            host=host,
            passes={"pass": True, "reject": False}[result],
        )
        for number, hint, reservation, preemptible, host, result in found
    )


def deciding_rows(server: Server, hosts: Sequence[Host], options: Options) -> list[Row]:
    """Return for each host the first row that fits.

    Raises:
        KeyError: A cell has a text whose meaning is not written below.
        StopIteration: No row fits.
    """
    possible = [
        row
        for row in rows()
        if HINT[row.hint](server)
        and FLAVOR[row.reservation](server)
        and PREEMPTIBLES[row.preemptible](server, options)
    ]
    return [next(row for row in possible if HOST[row.host](server, host, options)) for host in hosts]


def _ids(server: Server) -> set[str]:
    written = [server.hint] if isinstance(server.hint, str) else server.hint or []
    return {each for each in written if each}


def _reservation(server: Server) -> str | None:
    return server.extra_specs.get(RESERVATION)


def _preemptible(server: Server, options: Options) -> bool:
    word = server.extra_specs.get(PREEMPTIBLE, "no").strip().lower()
    return options.allow_preemptibles and word in {"1", "t", "true", "on", "y", "yes"}


def _pools(host: Host, options: Options) -> list[Membership]:
    names = {options.aggregate_freepool_name, options.preemptible_aggregate}
    return [
        each
        for each in host
        if each.name in names
        or (each.zone or "").startswith(options.blazar_az_prefix)
        or (each.zone or "").startswith("blazar:")
    ]


def _named(server: Server, host: Host, options: Options) -> list[Membership]:
    return [each for each in _pools(host, options) if each.name in _ids(server)]


def _is_shared(server: Server, host: Host, options: Options) -> bool:
    return any((each.metadata.get(str(server.project_id)) or "") for each in _named(server, host, options))


def _is_owned(server: Server, host: Host, options: Options) -> bool:
    owners = {each.metadata.get(options.blazar_owner) for each in _named(server, host, options)}
    return server.project_id is not None and server.project_id in owners


HINT: Mapping[str, Callable[[Server], bool]] = {
    "given": lambda server: bool(_ids(server)),
    "none": lambda server: not _ids(server),
}
FLAVOR: Mapping[str, Callable[[Server], bool]] = {
    "any": lambda _: True,
    "none": lambda server: _reservation(server) is None,
    "any value": lambda server: _reservation(server) is not None,
    "in the hint": lambda server: _reservation(server) in _ids(server),
    "none, or other": lambda server: _reservation(server) not in _ids(server),
}
PREEMPTIBLES: Mapping[str, Callable[[Server, Options], bool]] = {
    "any": lambda _, __: True,
    "yes": _preemptible,
    "no": lambda server, options: not _preemptible(server, options),
}
HOST: Mapping[str, Callable[[Server, Host, Options], bool]] = {
    "a named pool has the project's id as a metadata key with a value that is not empty (sharing)": (
        _is_shared
    ),
    "a named pool has the project as ``blazar_owner``": _is_owned,
    "any (Placement's inventory does the restricting)": lambda *_: True,
    "in a named pool": lambda *case: bool(_named(*case)),
    "in no named pool": lambda *case: not _named(*case),
    "closed, because a reservation of it begins": lambda _, host, __: any(each.closes_host for each in host),
    "in one pool only, which is ``preemptible_aggregate``": lambda _, host, options: (
        [each.name for each in _pools(host, options)] == [options.preemptible_aggregate]
    ),
    "in no pool, and ``allow_preemptibles_on_ordinary_hosts`` is on": lambda _, host, options: (
        not _pools(host, options) and options.allow_preemptibles_on_ordinary_hosts
    ),
    "any other": lambda *_: True,
    "in a pool": lambda _, host, options: bool(_pools(host, options)),
    "in no pool": lambda _, host, options: not _pools(host, options),
}
