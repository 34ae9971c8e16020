"""The decision as a function of plain values: by example, by foreign input, and in all combinations."""

from __future__ import annotations

import pytest
from oslo_config import cfg
from table_samples import ALL_HOSTS, ALL_OPTIONS, ALL_SERVERS, EXAMPLES, ME, Case, differences
from truth_table import Host, Options, Server, deciding_rows, rows

from blazarnova import options as blazarnova_options
from blazarnova.scheduler.filters.decision import (
    Aggregate,
    FilterSettings,
    Request,
    Verdict,
    closed_hosts,
    decide,
)

MINE = Aggregate(name="R", availability_zone="blazar_R", metadata={"blazar:owner": ME})
UNOWNED = Aggregate(name="R", availability_zone="blazar_R", metadata={"blazar:owner": "", "": "x"})
FREEPOOL = Aggregate(name="freepool")
HOST = "this-host"


def settings_of(options: Options, folder: pytest.TempPathFactory) -> FilterSettings:
    file = folder.mktemp("etc") / "nova.conf"
    file.write_text(options.as_text(), encoding="utf-8")
    conf = cfg.ConfigOpts()
    conf(["--config-file", str(file)])
    return blazarnova_options.read(conf)


def request_of(server: Server) -> Request:
    return Request(project_id=server.project_id, hint=server.hint, extra_specs=server.extra_specs)


def aggregates_of(host: Host) -> list[Aggregate]:
    return [
        Aggregate(name=each.name, availability_zone=each.zone, metadata=each.metadata_on(HOST))
        for each in host
    ]


def verdict(case: Case, folder: pytest.TempPathFactory) -> Verdict:
    aggregates = aggregates_of(case.host)
    settings = settings_of(case.options, folder)
    return decide(request_of(case.server), aggregates, settings, is_closed=HOST in closed_hosts(aggregates))


# --- the table --------------------------------------------------------------------------------------------


def test_the_table_has_exactly_the_rows_that_the_code_knows() -> None:
    assert [(row.number, row.passes) for row in rows()] == [(each.row, each.passes) for each in Verdict]


def test_every_row_has_an_example() -> None:
    assert {number for number, _, _ in EXAMPLES} == {row.number for row in rows()}


@pytest.mark.parametrize(("number", "case", "near"), EXAMPLES)
def test_an_example_is_decided_by_its_row_and_a_near_one_the_other_way(
    number: int, case: Case, near: Case, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert len(differences(case, near)) == 1
    assert near.row.passes is not case.row.passes

    found, other = verdict(case, tmp_path_factory), verdict(near, tmp_path_factory)

    assert (found.row, found.passes) == (number, case.row.passes)
    assert (other.row, other.passes) == (near.row.number, near.row.passes)


def test_every_combination_is_decided_as_the_table_says(tmp_path_factory: pytest.TempPathFactory) -> None:
    all_aggregates = [aggregates_of(host) for host in ALL_HOSTS]
    hosts = [(each, HOST in closed_hosts(each)) for each in all_aggregates]
    seen = set()

    for options in ALL_OPTIONS:
        settings = settings_of(options, tmp_path_factory)
        for server in ALL_SERVERS:
            request = request_of(server)
            found = [decide(request, host, settings, is_closed=closed) for host, closed in hosts]
            expected = deciding_rows(server, ALL_HOSTS, options)
            assert [each.row for each in found] == [row.number for row in expected], (server, options)
            seen.update(found)

    assert seen == set(Verdict)


# --- what Nova does not send ------------------------------------------------------------------------------


@pytest.mark.parametrize("hint", [{"R": "R"}, 5, True, [5, None], [["R"]], "r", "lease-of-R"])
def test_a_hint_that_is_neither_text_nor_a_list_of_text_names_nothing(hint: object) -> None:
    request = Request(project_id=ME, hint=hint)

    assert decide(request, [MINE], FilterSettings()) is Verdict.NOT_IN_A_POOL_OF_THE_HINT
    assert decide(request, [], FilterSettings()) is Verdict.NOT_IN_A_POOL_OF_THE_HINT


@pytest.mark.parametrize("hint", [None, "", [], (), {}])
def test_an_empty_hint_is_none(hint: object) -> None:
    assert decide(Request(project_id=ME, hint=hint), [], FilterSettings()) is Verdict.ORDINARY_HOST


@pytest.mark.parametrize("project_id", [None, ""])
def test_a_request_without_a_project_owns_nothing_not_even_what_has_no_owner(project_id: str | None) -> None:
    request = Request(project_id=project_id, hint="R")

    assert decide(request, [UNOWNED], FilterSettings()) is Verdict.SOMEBODY_ELSES_POOL


@pytest.mark.parametrize("word", ["true", "True", "1", "t", "y", "YES", "on", " true "])
def test_a_flavor_says_in_many_words_that_it_is_preemptible(word: str) -> None:
    request = Request(project_id=ME, extra_specs={"blazar:preemptible": word})

    found = decide(request, [FREEPOOL], FilterSettings(allow_preemptibles=True))

    assert found is Verdict.PREEMPTIBLE_ON_PREEMPTIBLE_HOST


@pytest.mark.parametrize("word", ["false", "0", "no", "off", "", "maybe"])
def test_any_other_word_means_that_a_flavor_is_not_preemptible(word: str) -> None:
    request = Request(project_id=ME, extra_specs={"blazar:preemptible": word})

    assert decide(request, [FREEPOOL], FilterSettings(allow_preemptibles=True)) is Verdict.IN_A_POOL
