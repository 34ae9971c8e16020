"""The filter inside Nova's scheduler: loading, options, and requests of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from in_nova import FILTER_SCHEDULER, PATH, flavor, host_manager, host_states, passing, request_spec
from nova import exception, objects
from nova.scheduler import filters
from oslo_config import cfg
from table_samples import FREEPOOL, ME, MINE, ORDINARY, OTHER, THEIRS
from truth_table import Membership, Options, Server

from blazarnova.scheduler.filters.blazar_filter import BlazarFilter

HOSTS = ((FREEPOOL,), (ORDINARY,), (MINE,), (THEIRS,))
FREE, ORDINARY_HOST, MY_HOST, THEIR_HOST = range(4)


class SchedulerEnv:
    """Four hosts before a host manager."""

    def __init__(self, folder: Path, nova_conf: str = FILTER_SCHEDULER) -> None:
        self.manager = host_manager(folder, nova_conf)
        self.hosts = host_states(HOSTS)

    def passing(self, spec: Any) -> list[int]:
        """Return the numbers of the hosts that pass."""
        return [self.hosts.index(each) for each in passing(self.manager, self.hosts, spec)]


@pytest.fixture
def env(tmp_path: Path) -> SchedulerEnv:
    return SchedulerEnv(tmp_path)


def spec_of(hint: Any = None, project_id: str | None = ME) -> Any:
    hints = {} if hint is None else {"reservation": hint}
    return request_spec(Server(project_id=project_id), hints=hints)


# --- loading ----------------------------------------------------------------------------------------------


def test_nova_loads_the_filter_by_the_path_in_its_configuration(env: SchedulerEnv) -> None:
    (loaded,) = env.manager.enabled_filters

    assert type(loaded) is BlazarFilter
    assert filters.HostFilterHandler().get_matching_classes([PATH]) == [BlazarFilter]


def test_it_works_among_the_filters_of_nova(tmp_path: Path) -> None:
    names = "ComputeCapabilitiesFilter,SameHostFilter,DifferentHostFilter,BlazarFilter"
    env = SchedulerEnv(tmp_path, FILTER_SCHEDULER.replace("= BlazarFilter", f"= {names}"))

    assert env.passing(spec_of()) == [ORDINARY_HOST]
    assert env.passing(spec_of("R")) == [MY_HOST]


def test_a_path_to_a_filter_that_is_not_there_stops_the_scheduler(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match="NoSuchFilter"):
        host_manager(tmp_path, FILTER_SCHEDULER.replace(PATH, f"{PATH.rpartition('.')[0]}.NoSuchFilter"))


def test_a_filter_that_is_enabled_and_not_available_stops_the_scheduler(tmp_path: Path) -> None:
    with pytest.raises(exception.SchedulerHostFilterNotFound, match="BlazarFilter"):
        host_manager(tmp_path, FILTER_SCHEDULER.replace(f"available_filters = {PATH}", ""))


# --- options ----------------------------------------------------------------------------------------------


def test_without_options_those_of_blazar_hold(env: SchedulerEnv) -> None:
    assert env.passing(spec_of()) == [ORDINARY_HOST]
    assert env.passing(spec_of("R")) == [MY_HOST]


def test_options_are_those_of_nova_conf(tmp_path: Path) -> None:
    options = Options(
        aggregate_freepool_name="rack-7", preemptible_aggregate="rack-7", blazar_az_prefix="res-"
    )
    env = SchedulerEnv(tmp_path, FILTER_SCHEDULER + options.as_text())

    assert env.passing(spec_of()) == [FREE, MY_HOST, THEIR_HOST]


@pytest.mark.parametrize("line", ["allow_preemptibles = maybe", "blazar_az_prefix ="])
def test_an_option_that_cannot_be_used_stops_the_scheduler_by_its_name(tmp_path: Path, line: str) -> None:
    with pytest.raises(cfg.ConfigFileValueError, match=line.split()[0]):
        host_manager(tmp_path, f"{FILTER_SCHEDULER}\n[blazar:physical:host]\n{line}\n")


# --- requests ---------------------------------------------------------------------------------------------


def test_a_hint_comes_wrapped_in_a_list(env: SchedulerEnv) -> None:
    spec = spec_of("R")

    assert spec.scheduler_hints == {"reservation": ["R"]}
    assert env.passing(spec) == [MY_HOST]


@pytest.mark.parametrize("hint", ["", [], [""]])
def test_an_empty_hint_is_none(env: SchedulerEnv, hint: object) -> None:
    assert env.passing(spec_of(hint)) == [ORDINARY_HOST]


@pytest.mark.parametrize("hint", [5, 5.5, True, [5, True], ["", ""]])
def test_what_is_not_an_id_names_no_reservation(env: SchedulerEnv, hint: object) -> None:
    assert env.passing(spec_of(hint)) == []


def test_a_number_is_the_text_that_nova_makes_of_it(tmp_path: Path) -> None:
    manager = host_manager(tmp_path, FILTER_SCHEDULER)
    five = Membership(name="5", zone="blazar_5", metadata={"blazar:owner": ME})
    hosts = host_states([(five,), (MINE,)])

    assert passing(manager, hosts, spec_of(5)) == hosts[:1]
    assert passing(manager, hosts, spec_of([5, 6])) == hosts[:1]


def test_hints_for_other_filters_mean_nothing_here(env: SchedulerEnv) -> None:
    hints = {"group": "R", "same_host": ["R"], "reservation_id": "R"}

    assert env.passing(request_spec(Server(project_id=ME), hints=hints)) == [ORDINARY_HOST]


def test_a_request_that_has_no_hints_at_all_has_none(env: SchedulerEnv) -> None:
    spec = objects.RequestSpec(
        flavor=flavor(extra_specs={}), project_id=ME, ignore_hosts=None, force_hosts=None, force_nodes=None
    )

    assert "scheduler_hints" not in spec
    assert env.passing(spec) == [ORDINARY_HOST]


def test_another_project_and_a_request_without_one_do_not_reach_my_host(env: SchedulerEnv) -> None:
    assert env.passing(spec_of("R", project_id=OTHER)) == [THEIR_HOST]
    assert env.passing(spec_of("R", project_id=None)) == []


def test_extra_specs_that_were_not_sent_along_are_not_fetched(env: SchedulerEnv) -> None:
    spec = spec_of()
    spec.flavor = flavor()

    assert env.passing(spec) == [ORDINARY_HOST]
    assert "extra_specs" not in spec.flavor


def test_several_instances_are_filtered_once(env: SchedulerEnv) -> None:
    spec = spec_of("R")
    spec.num_instances = 3

    first = passing(env.manager, env.hosts, spec, index=0)
    second = passing(env.manager, first, spec, index=1)

    assert first == second == [env.hosts[MY_HOST]]
    assert passing(env.manager, env.hosts, spec, index=1) == env.hosts


@pytest.mark.parametrize("hint", [None, "R", "over and done"])
def test_a_rebuild_stays_where_it_is(env: SchedulerEnv, hint: str | None) -> None:
    hints = {"_nova_check_type": ["rebuild"], **({"reservation": hint} if hint else {})}

    spec = request_spec(Server(project_id=OTHER), hints=hints)

    assert env.passing(spec) == [FREE, ORDINARY_HOST, MY_HOST, THEIR_HOST]


def test_no_host_at_all_is_no_failure(env: SchedulerEnv) -> None:
    assert passing(env.manager, [], spec_of("R")) == []


def test_a_host_may_be_asked_about_alone(env: SchedulerEnv) -> None:
    (blazar_filter,) = env.manager.enabled_filters

    found = [blazar_filter.host_passes(host, spec_of("R")) for host in env.hosts]

    assert found == [False, False, True, False]


def test_what_changes_between_requests_is_seen(env: SchedulerEnv) -> None:
    spec = spec_of("R")
    before = env.passing(spec)

    (aggregate,) = env.hosts[MY_HOST].aggregates
    aggregate.metadata = {**aggregate.metadata, "blazar:owner": OTHER}

    assert before == [MY_HOST]
    assert env.passing(spec) == []
