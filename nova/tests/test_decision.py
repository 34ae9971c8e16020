"""The filter's decision: every row by example, then all combinations against the table read row by row."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import blazarnova.scheduler.filters.decision as decision_module
from blazarnova.scheduler.filters.decision import Aggregate, FilterSettings, Request, Verdict, decide

ME, OTHER = "project-me", "project-other"
FLAVOR_KEY = "aggregate_instance_extra_specs:reservation"
PREEMPTIBLE = {"blazar:preemptible": "true"}

FREEPOOL = Aggregate(name="freepool")
SPOT = Aggregate(name="spot")
ORDINARY_ZONE = Aggregate(name="rack-7", availability_zone="az1", metadata={ME: "x", "blazar:owner": ME})
INSTANCES_R = Aggregate(name="R", metadata={"reservation": "R", "blazar:owner": ME, "filter_tenant_id": ME})
MINE = Aggregate(name="R", availability_zone="blazar_R", metadata={"blazar:owner": ME})
THEIRS = Aggregate(name="R", availability_zone="blazar_R", metadata={"blazar:owner": OTHER})
SHARED = Aggregate(name="R", availability_zone="blazar_R", metadata={"blazar:owner": OTHER, ME: "x"})
UNSHARED = Aggregate(name="R", availability_zone="blazar_R", metadata={"blazar:owner": OTHER, ME: ""})
LEGACY_MINE = Aggregate(name="Q", availability_zone="blazar:Q", metadata={"blazar:owner": ME})
NOBODYS = Aggregate(name="R", availability_zone="blazar_R")

DEFAULTS = FilterSettings()
PREEMPTIBLES = FilterSettings(allow_preemptibles=True)
SPOTS = FilterSettings(allow_preemptibles=True, preemptible_aggregate="spot")
ANYWHERE = FilterSettings(allow_preemptibles=True, allow_preemptibles_on_ordinary_hosts=True)


def verdict(
    *aggregates: Aggregate,
    hint: object = None,
    extra_specs: Mapping[str, str] | None = None,
    project_id: str | None = ME,
    settings: FilterSettings = DEFAULTS,
) -> Verdict:
    request = Request(project_id=project_id, hint=hint, extra_specs=extra_specs or {})
    return decide(request, aggregates, settings)


# --- with a hint ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hint", ["R", ["R"], ["X", "R"], ("R", "X")])
def test_the_owner_of_a_reservation_reaches_its_hosts(hint: object) -> None:
    assert verdict(MINE, hint=hint) is Verdict.OWNED
    assert verdict(ORDINARY_ZONE, MINE, hint=hint) is Verdict.OWNED


def test_a_reservation_of_the_legacy_zone_prefix_is_reached_too() -> None:
    assert verdict(LEGACY_MINE, hint="Q") is Verdict.OWNED


def test_a_project_with_which_a_reservation_is_shared_reaches_its_hosts() -> None:
    assert verdict(SHARED, hint="R") is Verdict.SHARED
    assert verdict(UNSHARED, hint="R") is Verdict.SOMEBODY_ELSES_POOL


def test_nobody_else_reaches_reserved_hosts() -> None:
    assert verdict(THEIRS, hint="R") is Verdict.SOMEBODY_ELSES_POOL
    assert verdict(MINE, hint="R", project_id=OTHER) is Verdict.SOMEBODY_ELSES_POOL


@pytest.mark.parametrize("project_id", [None, ""])
def test_a_request_without_a_project_owns_nothing(project_id: str | None) -> None:
    unowned = Aggregate(name="R", availability_zone="blazar_R", metadata={"blazar:owner": "", "": "x"})

    assert verdict(NOBODYS, hint="R", project_id=project_id) is Verdict.SOMEBODY_ELSES_POOL
    assert verdict(unowned, hint="R", project_id=project_id) is Verdict.SOMEBODY_ELSES_POOL


def test_every_named_pool_is_tried_not_only_the_first() -> None:
    both = ["Q", "R"]

    assert verdict(THEIRS, LEGACY_MINE, hint=both) is Verdict.OWNED
    assert verdict(LEGACY_MINE, THEIRS, hint=both) is Verdict.OWNED
    assert verdict(FREEPOOL, SHARED, hint=["freepool", "R"]) is Verdict.SHARED


@pytest.mark.parametrize(
    "hint", ["X", ["X", "Y"], "r", "lease-of-R", {"R": "R"}, 5, True, [5, None], [["R"]]]
)
def test_a_hint_that_names_no_pool_of_the_host_is_refused(hint: object) -> None:
    assert verdict(MINE, hint=hint) is Verdict.NOT_IN_A_POOL_OF_THE_HINT
    assert verdict(hint=hint) is Verdict.NOT_IN_A_POOL_OF_THE_HINT


def test_an_aggregate_that_is_no_pool_cannot_be_named() -> None:
    assert verdict(ORDINARY_ZONE, hint="rack-7") is Verdict.NOT_IN_A_POOL_OF_THE_HINT
    assert verdict(FREEPOOL, INSTANCES_R, hint="R") is Verdict.NOT_IN_A_POOL_OF_THE_HINT


def test_the_freepool_cannot_be_had_by_its_name() -> None:
    assert verdict(FREEPOOL, hint="freepool") is Verdict.SOMEBODY_ELSES_POOL


@pytest.mark.parametrize("hint", ["R", ["X", "R"]])
def test_a_hint_may_stand_beside_the_flavor_of_the_same_reservation(hint: object) -> None:
    found = verdict(FREEPOOL, INSTANCES_R, hint=hint, extra_specs={FLAVOR_KEY: "R"})

    assert found is Verdict.HINT_NAMES_RESERVATION_OF_FLAVOR


def test_a_hint_is_not_satisfied_by_the_flavor_of_another_reservation() -> None:
    extra_specs = {FLAVOR_KEY: "Q"}

    assert verdict(FREEPOOL, hint="R", extra_specs=extra_specs) is Verdict.NOT_IN_A_POOL_OF_THE_HINT
    assert verdict(THEIRS, hint="R", extra_specs=extra_specs) is Verdict.SOMEBODY_ELSES_POOL
    assert verdict(MINE, hint="R", extra_specs=extra_specs) is Verdict.OWNED


# --- without a hint ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("hint", [None, "", [], ()])
@pytest.mark.parametrize("value", ["R", ""])
def test_the_flavor_of_a_reservation_may_run_where_placement_lets_it(hint: object, value: str) -> None:
    assert (
        verdict(FREEPOOL, INSTANCES_R, hint=hint, extra_specs={FLAVOR_KEY: value})
        is Verdict.RESERVATION_FLAVOR
    )


def test_hosts_of_blazar_take_no_ordinary_servers() -> None:
    assert verdict(FREEPOOL) is Verdict.IN_A_POOL
    assert verdict(MINE) is Verdict.IN_A_POOL
    assert verdict(LEGACY_MINE, ORDINARY_ZONE) is Verdict.IN_A_POOL
    assert verdict(SPOT, settings=FilterSettings(preemptible_aggregate="spot")) is Verdict.IN_A_POOL


def test_ordinary_hosts_take_ordinary_servers() -> None:
    assert verdict() is Verdict.ORDINARY_HOST
    assert verdict(ORDINARY_ZONE, SPOT) is Verdict.ORDINARY_HOST


def test_the_names_of_pools_are_options() -> None:
    renamed = FilterSettings(
        freepool_name="idle", owner_key="owner", availability_zone_prefix="res-", preemptible_aggregate="idle"
    )
    mine = Aggregate(name="R", availability_zone="res-R", metadata={"owner": ME})

    assert verdict(FREEPOOL, settings=renamed) is Verdict.ORDINARY_HOST
    assert verdict(Aggregate(name="idle"), settings=renamed) is Verdict.IN_A_POOL
    assert verdict(mine, settings=renamed) is Verdict.IN_A_POOL
    assert verdict(mine, hint="R", settings=renamed) is Verdict.OWNED


@pytest.mark.parametrize("word", ["true", "True", "1", "t", "y", "YES", "on", " true "])
def test_preemptible_servers_run_on_the_preemptible_aggregate(word: str) -> None:
    found = verdict(FREEPOOL, extra_specs={"blazar:preemptible": word}, settings=PREEMPTIBLES)

    assert found is Verdict.PREEMPTIBLE_ON_PREEMPTIBLE_HOST


@pytest.mark.parametrize("word", ["false", "0", "no", "off", "", "maybe"])
def test_a_flavor_that_says_no_is_not_preemptible(word: str) -> None:
    assert (
        verdict(FREEPOOL, extra_specs={"blazar:preemptible": word}, settings=PREEMPTIBLES)
        is Verdict.IN_A_POOL
    )


def test_preemptible_flavors_are_ordinary_while_the_option_is_off() -> None:
    assert verdict(FREEPOOL, extra_specs=PREEMPTIBLE) is Verdict.IN_A_POOL
    assert verdict(extra_specs=PREEMPTIBLE) is Verdict.ORDINARY_HOST


def test_preemptible_servers_keep_off_reserved_and_other_hosts() -> None:
    for aggregates in [(), (ORDINARY_ZONE,), (MINE,), (FREEPOOL, MINE)]:
        found = verdict(*aggregates, extra_specs=PREEMPTIBLE, settings=PREEMPTIBLES)
        assert found is Verdict.NO_HOST_FOR_PREEMPTIBLES

    assert verdict(SPOT, extra_specs=PREEMPTIBLE, settings=SPOTS) is Verdict.PREEMPTIBLE_ON_PREEMPTIBLE_HOST
    assert verdict(FREEPOOL, extra_specs=PREEMPTIBLE, settings=SPOTS) is Verdict.NO_HOST_FOR_PREEMPTIBLES
    assert verdict(SPOT, MINE, extra_specs=PREEMPTIBLE, settings=SPOTS) is Verdict.NO_HOST_FOR_PREEMPTIBLES


def test_preemptible_servers_may_run_on_ordinary_hosts_if_an_option_says_so() -> None:
    assert verdict(extra_specs=PREEMPTIBLE, settings=ANYWHERE) is Verdict.PREEMPTIBLE_ON_ORDINARY_HOST
    assert verdict(ORDINARY_ZONE, extra_specs=PREEMPTIBLE, settings=ANYWHERE).passes
    assert verdict(MINE, extra_specs=PREEMPTIBLE, settings=ANYWHERE) is Verdict.NO_HOST_FOR_PREEMPTIBLES


# --- the table --------------------------------------------------------------------------------------------

AGGREGATES = (FREEPOOL, SPOT, ORDINARY_ZONE, INSTANCES_R, MINE, THEIRS, SHARED, LEGACY_MINE, NOBODYS)
HINTS: tuple[object, ...] = (None, "", [], "R", ["R", "Q"], ["X", "freepool"], "X", "rack-7", {"R": 1})
EXTRA_SPECS: tuple[dict[str, str], ...] = tuple(
    reservation | preemptible
    for reservation in ({}, {FLAVOR_KEY: "R"}, {FLAVOR_KEY: "Z"})
    for preemptible in ({}, PREEMPTIBLE, {"blazar:preemptible": "no"})
)
ALL_SETTINGS = tuple(
    FilterSettings(
        allow_preemptibles=allow, preemptible_aggregate=name, allow_preemptibles_on_ordinary_hosts=anywhere
    )
    for allow, name, anywhere in itertools.product((False, True), ("freepool", "spot"), (False, True))
)


def row_by_row(
    request: Request, aggregates: Sequence[Aggregate], settings: FilterSettings
) -> tuple[int, bool]:
    """Read the table of ``BlazarFilter`` from top to bottom; return the first row that fits."""
    pools = [
        each
        for each in aggregates
        if each.name in {settings.freepool_name, settings.preemptible_aggregate}
        or (each.availability_zone or "").startswith(("blazar_", "blazar:"))
    ]
    hints = [request.hint] if isinstance(request.hint, str) else request.hint
    hints = hints if isinstance(hints, list) else []
    given = request.hint not in (None, "", [])
    named = [each for each in pools if each.name in hints]
    flavor = request.extra_specs.get(FLAVOR_KEY)
    preemptible = settings.allow_preemptibles and request.extra_specs.get("blazar:preemptible") == "true"
    project = str(request.project_id)
    rows: list[tuple[int, Callable[[], bool], bool]] = [
        (1, lambda: given and any(each.metadata.get(project) for each in named), True),
        (2, lambda: given and any(each.metadata.get("blazar:owner") == project for each in named), True),
        (3, lambda: given and flavor in hints, True),
        (4, lambda: given and bool(named), False),
        (5, lambda: given, False),
        (6, lambda: flavor is not None, True),
        (7, lambda: preemptible and {each.name for each in pools} == {settings.preemptible_aggregate}, True),
        (8, lambda: preemptible and not pools and settings.allow_preemptibles_on_ordinary_hosts, True),
        (9, lambda: preemptible, False),
        (10, lambda: bool(pools), False),
        (11, lambda: True, True),
    ]
    return next((number, result) for number, fits, result in rows if fits())


def memberships() -> Iterator[tuple[Aggregate, ...]]:
    for count in range(4):
        yield from itertools.permutations(AGGREGATES, count)


SAMPLES = tuple(
    aggregates
    for aggregates in memberships()
    # One aggregate has one name; of three aggregates the order is tried for reservations only.
    if len({each.name for each in aggregates if each is not INSTANCES_R})
    == len(aggregates) - (INSTANCES_R in aggregates)
    and (len(aggregates) < 3 or LEGACY_MINE in aggregates)
)


def test_every_combination_is_decided_as_the_table_says() -> None:
    seen = set()

    for hint, extra_specs, project_id in itertools.product(HINTS, EXTRA_SPECS, (ME, OTHER)):
        request = Request(project_id=project_id, hint=hint, extra_specs=extra_specs)
        for settings, aggregates in itertools.product(ALL_SETTINGS, SAMPLES):
            found = decide(request, aggregates, settings)
            assert (found.row, found.passes) == row_by_row(request, aggregates, settings)
            seen.add(found)

    assert seen == set(Verdict)


def test_the_docstring_of_the_filter_lists_exactly_the_rows_that_exist() -> None:
    source = Path(decision_module.__file__).with_name("blazar_filter.py").read_text(encoding="utf-8")
    (filter_class,) = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    table = re.split(r"^=== .*$", ast.get_docstring(filter_class) or "", flags=re.MULTILINE)[2]

    rows = {
        int(row.split()[0]): re.findall(r"\b(pass|reject)$", row, flags=re.MULTILINE)
        for row in re.split(r"\n(?=\d)", table.strip())
    }

    assert rows == {each.row: ["pass" if each.passes else "reject"] for each in Verdict}
