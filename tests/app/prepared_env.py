"""A service with a lease in each stable status, and malformed values that clients might send."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app.http_env import Answer, HttpEnv, Json

_LONG = 2**20

ODD: dict[str, Any] = {
    "null": None,
    "empty-text": "",
    "empty-list": [],
    "empty-object": {},
    "true": True,
    "fraction": 1.5,
    "zero": 0,
    "negative": -1,
    "large": 10**18,
    "huge": 10**30,
    "huge-fraction": 1e300,
    "nul": "a\x00b",
    "half-surrogate": "\ud800",
    "long-text": "x" * 300,
    "mebibyte": "x" * _LONG,
    "object": {"x": 1},
    "deep": json.loads("[" * 40 + "]" * 40),
    "sql": "' OR 1=1 --",
    "path": "../../x",
    "emoji": "😀",
    "blank": " ",
}
"""Values that are invalid for almost every key, by name."""

ODD_IDS: dict[str, str] = {
    "sql": "%27%20OR%201=1%20--",
    "parent": "..%2F..%2Fx",
    "nul": "%00",
    "nul-inside": "1%00",
    "blank": "%20",
    "percent": "%25",
    "no-utf-8": "%ff",
    "half-surrogate": "%ed%a0%80",
    "emoji": "%F0%9F%98%80",
    "long": "x" * 5000,
    "negative": "-1",
    "uuid": "5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10",
    "braces": "%7Blease_id%7D",
}
"""IDs of nothing that exists, encoded as in a URL."""


class PreparedEnv:
    """Five hosts and one lease in each stable status; ``failed`` is the one in ERROR."""

    def __init__(self, env: HttpEnv) -> None:
        self.env = env
        self.hosts = env.register("h1", "h2", "h3", "h4", "h5", rack="r1", gpu="a100")
        self.leases: dict[str, Json] = {"over": env.create("now", 5)}
        self.leases["running"] = env.create("now", 600)
        env.work()
        with env.failing("compute.create_aggregate", status=403):
            self.leases["failed"] = env.create(10, 600)
            env.pass_time(10)
        env.pass_time(20)
        self.leases["ahead"] = env.create(120, 180)
        statuses = {name: env.status(lease) for name, lease in self.leases.items()}
        assert statuses == {"over": "TERMINATED", "running": "ACTIVE", "failed": "ERROR", "ahead": "PENDING"}

    def path(self, name: str) -> str:
        return f"/leases/{self.leases[name]['id']}"

    @contextmanager
    def unchanged(self) -> Iterator[HttpEnv]:
        """Yield the environment; on exit, check that nothing has changed."""
        before = self.env.snapshot()
        yield self.env
        assert self.env.snapshot() == before


def check_refusal(answer: Answer, name: str, *statuses: int) -> None:
    """Check that a request was refused in shape A with a message that names the parameter *name*.

    Args:
        answer: The answer.
        name: The parameter. For a body that is too long, the message names only the body.
        *statuses: The accepted statuses; only 400 by default.
    """
    if answer.status_code == 413:
        assert answer.json.keys() == {"error", "error_message"}
        assert "body" in answer.json["error_message"]
        return
    assert answer.status_code in (statuses or (400,)), answer.text[:500]
    assert answer.json.keys() == {"error_code", "error_message", "error_name"}
    assert answer.json["error_code"] == answer.json["error_name"] == answer.status_code
    message = answer.json["error_message"]
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message), message
    assert len(message) < 500
