"""Projects and networks by name."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from openstack import exceptions as sdk_exceptions

from blazarclient import cloud_names, exception

ID = "5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10"
Find = Callable[[Any, str], str]
both = pytest.mark.parametrize("find", [cloud_names.find_project, cloud_names.find_network])


def app_with(look_up: Callable[[str], Any]) -> Any:
    """Return a program whose cloud answers lookups of projects and networks with *look_up*."""
    connection = SimpleNamespace(
        current_project=SimpleNamespace(id="current-id", name="current"),
        identity=SimpleNamespace(find_project=look_up),
        network=SimpleNamespace(find_network=look_up),
    )
    return SimpleNamespace(client_manager=SimpleNamespace(sdk_connection=connection))


def raising(error: Exception) -> Callable[[str], Any]:
    def look_up(name_or_id: str) -> Any:
        raise error

    return look_up


@both
def test_a_name_is_replaced_by_the_id_that_the_cloud_finds(find: Find) -> None:
    assert find(app_with(lambda name: SimpleNamespace(id=f"id-of-{name}")), "mine") == "id-of-mine"


@both
def test_a_name_that_the_cloud_does_not_find_stays(find: Find) -> None:
    assert find(app_with(lambda name: None), "mine") == "mine"


@both
def test_a_name_stays_if_the_lookup_fails_or_there_is_no_cloud_to_ask(find: Find) -> None:
    assert find(app_with(raising(sdk_exceptions.ForbiddenException())), "mine") == "mine"
    assert find(SimpleNamespace(), "mine") == "mine"


@both
def test_a_name_that_several_resources_have_is_refused(find: Find) -> None:
    with pytest.raises(exception.NoUniqueMatch, match=r"More than one .* 'mine'; use the id"):
        find(app_with(raising(sdk_exceptions.DuplicateResource())), "mine")


def test_the_project_of_the_token_is_found_by_users_who_cannot_list_projects() -> None:
    app = app_with(raising(sdk_exceptions.ForbiddenException()))

    assert cloud_names.find_project(app, "current") == "current-id"


def test_the_id_of_a_network_is_not_looked_up() -> None:
    assert cloud_names.find_network(app_with(raising(AssertionError())), ID) == ID
