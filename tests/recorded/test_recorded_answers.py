"""Responses of API 1.0 equal the recorded ones."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator

import pytest
from app.http_env import Json
from recorded.files import COMMAND, FOLDER, difference, path_of, recorded
from recorded.playing import player
from recorded.stories import STORIES
from recorded.story import Request, Story

from blazar.api.microversions import MIN_VERSION
from blazar.api.route import Route
from blazar.api.routes import ROUTES

FEWEST_REQUESTS = 300
Play = Callable[[Story], list[Json]]


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """Yield a function that plays a story once and returns its responses."""
    with player() as found:
        yield found


@pytest.fixture(scope="module", params=STORIES, ids=lambda each: each.name)
def story(request: pytest.FixtureRequest) -> Story:
    """Return each story; the two tests of a story run consecutively."""
    found: Story = request.param
    return found


def without_messages(answers: list[Json]) -> list[Json]:
    return [{key: value for key, value in each.items() if key != "message"} for each in answers]


def messages(answers: list[Json]) -> list[Json]:
    return [{key: each[key] for key in ("request", "message")} for each in answers if "message" in each]


def check_equal(story: Story, before: list[Json], after: list[Json]) -> None:
    if before != after:
        pytest.fail(
            f"{story.name}: responses have changed. If this is intended, run {COMMAND}:\n"
            + difference(before, after),
            pytrace=False,
        )


def test_answers_are_those_that_were_recorded_but_for_texts_of_errors(story: Story, play: Play) -> None:
    check_equal(story, without_messages(recorded(story)), without_messages(play(story)))


def test_texts_of_errors_are_those_that_were_recorded(story: Story, play: Play) -> None:
    check_equal(story, messages(recorded(story)), messages(play(story)))


def test_a_difference_is_shown_with_the_request_that_it_belongs_to() -> None:
    before = recorded(STORIES[0])
    after = copy.deepcopy(before)
    after[0]["status"] = 418

    shown = difference(before, after)

    assert '+  "status": 418,' in shown.splitlines()
    assert before[0]["request"] in shown
    assert difference(before, before) == ""


def test_every_route_of_version_1_0_has_a_recorded_request_that_succeeds() -> None:
    served = {
        (route.method, route.path)
        for story in STORIES
        for request, answer in zip(story.requests, answers_of(story), strict=True)
        for route in [route_of(request)]
        if route is not None and answer["status"] == route.status
    }

    assert served == {(each.method, each.path) for each in ROUTES if each.since <= MIN_VERSION}


def answers_of(story: Story) -> list[Json]:
    return [each for each in recorded(story) if "request" in each]


def route_of(request: Request) -> Route | None:
    """Return the route of a request at version 1.0; of several, the one with the fewest variables."""
    path = request.path.partition("?")[0]
    found = [
        each
        for each in ROUTES
        if each.method == request.method
        and each.since <= MIN_VERSION
        and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", each.path), path)
    ]
    return min(found, key=lambda each: each.path.count("{"), default=None)


def test_the_recording_is_large() -> None:
    assert sum(len(each.requests) for each in STORIES) >= FEWEST_REQUESTS


def test_every_story_has_its_own_file_and_every_file_its_story() -> None:
    assert len({each.name for each in STORIES}) == len(STORIES)
    assert {path_of(each) for each in STORIES} == set(FOLDER.glob("*"))
