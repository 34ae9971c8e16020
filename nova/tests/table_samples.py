"""Servers, hosts and options to try the table with: examples of every row, and all combinations."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from truth_table import PREEMPTIBLE, RESERVATION, Host, Membership, Options, Row, Server, deciding_rows

ME, OTHER = "project-me", "project-other"

FREEPOOL = Membership(name="freepool")
CLOSED = Membership(name="freepool", closes_host=True)
OTHERS_CLOSED = Membership(name="freepool", metadata={"blazar:closed:another-host": "R"})
SPOT = Membership(name="spot")
IDLE = Membership(name="idle")
ORDINARY = Membership(name="rack-7", zone="az1", metadata={ME: "x", "blazar:owner": ME, "owner": ME})
INSTANCES = Membership(name="R", metadata={"reservation": "R", "blazar:owner": ME, "filter_tenant_id": ME})
MINE = Membership(name="R", zone="blazar_R", metadata={"blazar:owner": ME})
THEIRS = Membership(name="R", zone="blazar_R", metadata={"blazar:owner": OTHER})
NOBODYS = Membership(name="R", zone="blazar_R")
SHARED = Membership(name="R", zone="blazar_R", metadata={"blazar:owner": OTHER, ME: "x"})
UNSHARED = Membership(name="R", zone="blazar_R", metadata={"blazar:owner": OTHER, ME: ""})
RENAMED_MINE = Membership(name="R", zone="res-R", metadata={"owner": ME})
LEGACY_MINE = Membership(name="Q", zone="blazar:Q", metadata={"blazar:owner": ME})
LEGACY_THEIRS = Membership(name="Q", zone="blazar:Q", metadata={"blazar:owner": OTHER})

DEFAULTS = Options()
PREEMPTIBLES = Options(allow_preemptibles=True)
ANYWHERE = Options(allow_preemptibles=True, allow_preemptibles_on_ordinary_hosts=True)
SPOTS = Options(allow_preemptibles=True, preemptible_aggregate="spot")
SPOTS_CLOSED = Options(preemptible_aggregate="spot")
NOWHERE_ELSE = Options(
    allow_preemptibles=True, preemptible_aggregate="", allow_preemptibles_on_ordinary_hosts=True
)
RENAMED = Options(aggregate_freepool_name="idle", blazar_owner="owner", blazar_az_prefix="res-")

IS_PREEMPTIBLE = {PREEMPTIBLE: "true"}
OF_R, OF_Z = {RESERVATION: "R"}, {RESERVATION: "Z"}

PLAIN = Server(project_id=ME)
FOR_R = Server(project_id=ME, hint="R")
PREEMPTIBLE_SERVER = Server(project_id=ME, extra_specs=IS_PREEMPTIBLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One server, one host, and the options."""

    server: Server
    host: Host = ()
    options: Options = DEFAULTS

    @property
    def row(self) -> Row:
        """Return the row of the table that decides."""
        (row,) = deciding_rows(self.server, [self.host], self.options)
        return row


def with_hint(hint: str | list[str] | None, *host: Membership) -> Case:
    """Return the case of a server of mine with a hint."""
    return Case(server=Server(project_id=ME, hint=hint), host=host)


def preemptible(*host: Membership, options: Options = PREEMPTIBLES) -> Case:
    """Return the case of a preemptible server."""
    return Case(server=PREEMPTIBLE_SERVER, host=host, options=options)


def plain(*host: Membership, options: Options = DEFAULTS) -> Case:
    """Return the case of an ordinary server."""
    return Case(server=PLAIN, host=host, options=options)


def of_flavor(reservation: dict[str, str], *host: Membership, hint: str | list[str] | None = None) -> Case:
    """Return the case of a server of mine with the flavor of a reservation, or another flavor."""
    return Case(server=Server(project_id=ME, hint=hint, extra_specs=reservation), host=host)


def by(project_id: str | None, case: Case) -> Case:
    """Return the case with the server asked for by another project, or by none."""
    return dataclasses.replace(case, server=dataclasses.replace(case.server, project_id=project_id))


EXAMPLES: tuple[tuple[int, Case, Case], ...] = (
    # The row that decides, a case of it, and one that differs in one thing and has the other result.
    (1, with_hint("R", SHARED), with_hint("R", UNSHARED)),
    (
        1,
        with_hint(["freepool", "R"], FREEPOOL, SHARED),
        by(None, with_hint(["freepool", "R"], FREEPOOL, SHARED)),
    ),
    (1, with_hint(["Q", "R"], LEGACY_THEIRS, SHARED), with_hint("Q", LEGACY_THEIRS, SHARED)),
    (2, with_hint("R", MINE), by(OTHER, with_hint("R", MINE))),
    (2, with_hint(["R", "Q"], THEIRS, LEGACY_MINE), with_hint("R", THEIRS, LEGACY_MINE)),
    (2, with_hint(["X", "R"], ORDINARY, MINE), with_hint(["X", "R"], ORDINARY, NOBODYS)),
    (2, Case(server=FOR_R, host=(RENAMED_MINE,), options=RENAMED), Case(server=FOR_R, host=(RENAMED_MINE,))),
    (3, of_flavor(OF_R, FREEPOOL, INSTANCES, hint="R"), of_flavor(OF_Z, FREEPOOL, INSTANCES, hint="R")),
    (3, of_flavor(OF_R, FREEPOOL, hint=["X", "R"]), of_flavor(OF_R, FREEPOOL, hint="X")),
    (3, of_flavor(OF_R, THEIRS, hint="R"), of_flavor({}, THEIRS, hint="R")),
    (4, with_hint("R", THEIRS), with_hint("R", MINE)),
    (4, by(None, with_hint("R", NOBODYS, SHARED)), with_hint("R", NOBODYS, SHARED)),
    (4, with_hint(["freepool", "R"], FREEPOOL), with_hint(["freepool", "R"], FREEPOOL, MINE)),
    (4, of_flavor(OF_Z, THEIRS, hint=["R", "X"]), of_flavor(OF_Z, THEIRS, hint=["R", "Z"])),
    (5, with_hint("X", MINE), with_hint("R", MINE)),
    (5, with_hint("rack-7", ORDINARY), with_hint(None, ORDINARY)),
    (5, with_hint(["R", "Q"]), with_hint([])),
    (5, with_hint("R", FREEPOOL, INSTANCES), with_hint("R", FREEPOOL, MINE)),
    (5, of_flavor(IS_PREEMPTIBLE, FREEPOOL, hint="R"), of_flavor(IS_PREEMPTIBLE | OF_R, FREEPOOL, hint="R")),
    (6, of_flavor(OF_R, FREEPOOL, INSTANCES), of_flavor({}, FREEPOOL, INSTANCES)),
    (6, of_flavor({RESERVATION: ""}, THEIRS), of_flavor({}, THEIRS)),
    (6, of_flavor(OF_R, FREEPOOL, hint=""), of_flavor(OF_R, FREEPOOL, hint="X")),
    (
        6,
        Case(server=Server(project_id=ME, extra_specs=IS_PREEMPTIBLE | OF_R), options=PREEMPTIBLES),
        preemptible(),
    ),
    (7, preemptible(CLOSED), preemptible(OTHERS_CLOSED)),
    (7, preemptible(CLOSED, options=ANYWHERE), preemptible(FREEPOOL, options=ANYWHERE)),
    (8, preemptible(FREEPOOL), preemptible(FREEPOOL, options=DEFAULTS)),
    (8, preemptible(FREEPOOL, INSTANCES), preemptible(FREEPOOL, MINE)),
    (8, preemptible(ORDINARY, SPOT, options=SPOTS), preemptible(ORDINARY, FREEPOOL, options=SPOTS)),
    (8, preemptible(SPOT, options=SPOTS), plain(SPOT, options=SPOTS)),
    (9, preemptible(options=ANYWHERE), preemptible(options=PREEMPTIBLES)),
    (9, preemptible(ORDINARY, options=ANYWHERE), preemptible(THEIRS, options=ANYWHERE)),
    (9, preemptible(INSTANCES, options=NOWHERE_ELSE), preemptible(FREEPOOL, options=NOWHERE_ELSE)),
    (10, preemptible(), preemptible(options=DEFAULTS)),
    (10, preemptible(ORDINARY), preemptible(ORDINARY, options=ANYWHERE)),
    (10, preemptible(FREEPOOL, options=SPOTS), preemptible(FREEPOOL)),
    (10, preemptible(FREEPOOL, SPOT, options=SPOTS), preemptible(SPOT, options=SPOTS)),
    (10, preemptible(MINE, options=ANYWHERE), preemptible(options=ANYWHERE)),
    (11, plain(FREEPOOL), plain()),
    (11, plain(MINE), with_hint("R", MINE)),
    (11, plain(LEGACY_MINE, ORDINARY), plain(ORDINARY)),
    (11, plain(IDLE, options=RENAMED), plain(IDLE)),
    (11, plain(SPOT, options=SPOTS_CLOSED), plain(SPOT)),
    (11, preemptible(FREEPOOL, options=DEFAULTS), preemptible(FREEPOOL)),
    (12, plain(), plain(FREEPOOL)),
    (12, plain(ORDINARY, INSTANCES), plain(ORDINARY, MINE)),
    (12, plain(RENAMED_MINE), plain(RENAMED_MINE, options=RENAMED)),
    (12, plain(ORDINARY), with_hint("rack-7", ORDINARY)),
    (12, preemptible(ORDINARY, options=DEFAULTS), preemptible(ORDINARY)),
)


def differences(case: Case, other: Case) -> list[str]:
    """Return in what two cases differ."""
    found = [
        each.name
        for each in dataclasses.fields(Server)
        if getattr(case.server, each.name) != getattr(other.server, each.name)
    ]
    return found + [name for name in ("host", "options") if getattr(case, name) != getattr(other, name)]


ALL_OPTIONS = (
    *(
        Options(
            allow_preemptibles=allow,
            preemptible_aggregate=name,
            allow_preemptibles_on_ordinary_hosts=anywhere,
        )
        for allow, name, anywhere in itertools.product((False, True), ("freepool", "spot", ""), (False, True))
    ),
    RENAMED,
    dataclasses.replace(RENAMED, allow_preemptibles=True, preemptible_aggregate="idle"),
)

ALL_SERVERS = tuple(
    Server(project_id=project_id, hint=hint, extra_specs=reservation | preemptible)
    for project_id, hint, reservation, preemptible in itertools.product(
        (ME, OTHER, None),
        (None, "", [], "R", ["Q", "R"], ["X", "freepool"], "X", "rack-7", ["spot", "Z"]),
        ({}, OF_R, OF_Z),
        ({}, IS_PREEMPTIBLE, {PREEMPTIBLE: "no"}),
    )
)


def _hosts() -> Iterator[Host]:
    memberships = (
        *(CLOSED, OTHERS_CLOSED, FREEPOOL, SPOT, IDLE, ORDINARY, INSTANCES),
        *(MINE, THEIRS, NOBODYS, SHARED, UNSHARED, RENAMED_MINE, LEGACY_MINE, LEGACY_THEIRS),
    )
    yield ()
    yield from itertools.permutations(memberships, 1)
    yield from itertools.permutations(memberships, 2)
    for host in itertools.combinations(memberships, 3):
        if LEGACY_MINE in host:
            yield host


ALL_HOSTS = tuple(_hosts())
