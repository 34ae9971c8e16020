"""Play stories against the real API and manager, on a simulated cloud and a stopped clock."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path

import sqlalchemy as sa
from app.conftest import without_failures
from app.http_env import Answer, HttpEnv, Json
from databases import make_database
from recorded.names import Names, UnknownName
from recorded.story import CALLERS, NOTHING, Request, Step, Story

from blazar.api.auth import noauth

HEADERS = (
    "Content-Type",
    "OpenStack-API-Version",
    "Vary",
    "WWW-Authenticate",
    "Retry-After",
    "Location",
    "Allow",
)
"""Headers that clients rely on."""
BETWEEN = timedelta(milliseconds=1)
"""The time between two requests. Lists are ordered by time, and responses show whole seconds."""
MESSAGE = "<message>"
STOPPED = "stopped"
"""The key of the reason why a story could not be completed."""
_LONGEST = 200
_REQUEST_ID = re.compile(r"req-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@contextmanager
def player() -> Iterator[Callable[[Story], list[Json]]]:
    """Yield a function like :func:`play` that caches its results."""
    with tempfile.TemporaryDirectory() as folder, make_database("sqlite", Path(folder)) as engine:
        yield cache(lambda story: play(story, engine, Path(folder)))


def play(story: Story, engine: sa.Engine, folder: Path) -> list[Json]:
    """Return the requests and steps of a story in recorded form, each request with its response.

    The text of an error is stored next to the body, under ``message``.

    Args:
        story: The story.
        engine: A migrated database, which is emptied first.
        folder: A folder for files.
    """
    env = HttpEnv(
        engine,
        folder,
        story.settings,
        plugins=story.plugins,
        guard=noauth if story.guard is None else story.guard(folder),
    )
    names = Names()
    found: list[Json] = []
    with without_failures():
        for part in story.parts:
            try:
                found.append(_played(env, part, names))
            except UnknownName as error:
                found.append({STOPPED: str(error)})
                break
    return found


def _played(env: HttpEnv, part: Request | Step, names: Names) -> Json:
    if isinstance(part, Step):
        part.act(env, names)
        return {"step": part.label}
    env.clock.advance(BETWEEN)
    return {**_shown_request(part), **_shown_answer(_ask(env, part, names), names)}


def _ask(env: HttpEnv, request: Request, names: Names) -> Answer:
    path, _, query = request.path.partition("?")
    more: Json = {"host": "blazar.example", "root_path": request.mounted_at or None}
    if isinstance(request.body, bytes):
        more["body"] = request.body
    elif request.body is not NOTHING:
        more["json"] = names.reveal(request.body)
    return env.ask(
        request.method,
        names.reveal_text(path),
        below="",
        who=CALLERS[request.who],
        query_string=names.reveal_text(query) or None,
        headers={name: names.reveal_text(value) for name, value in request.headers.items()},
        **more,
    )


def _shown_request(request: Request) -> Json:
    shown: Json = {"request": f"{request.method} {_short(request.path)}", "who": request.who}
    if request.mounted_at:
        shown["mounted_at"] = request.mounted_at
    if request.headers:
        shown["request_headers"] = dict(request.headers)
    if isinstance(request.body, bytes):
        shown["request_bytes"] = _short(request.body.decode("latin-1"))
    elif request.body is not NOTHING:
        shown["request_body"] = _short(request.body)
    return shown


def _shown_answer(answer: Answer, names: Names) -> Json:
    assert _REQUEST_ID.fullmatch(answer.headers["x-openstack-request-id"])
    shown: Json = {"status": answer.status_code}
    headers = {name: answer.headers[name] for name in HEADERS if name in answer.headers}
    if headers:
        shown["headers"] = headers
    if answer.headers.get("Content-Type") != "application/json":
        return {**shown, "text": answer.text} if answer.content else shown
    if not answer.content:
        return shown
    body = names.hide(answer.json)
    message = _take_message(body)
    return {**shown, "body": body} if message is None else {**shown, "body": body, "message": message}


def _take_message(body: object) -> str | None:
    """Replace the text of an error with a placeholder and return it; None if the body is no error."""
    if not isinstance(body, dict):
        return None
    for holder, key in ((body, "error_message"), (body.get("error"), "message")):
        if isinstance(holder, dict) and isinstance(holder.get(key), str):
            message: str = holder[key]
            holder[key] = MESSAGE
            return message
    return None


def _short(value: object) -> object:
    """Return a JSON value of a request with long texts truncated; the story has them in full."""
    if isinstance(value, Mapping):
        return {_short(key): _short(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_short(each) for each in value]
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:20]}… ({len(value)} characters)"
    return value
