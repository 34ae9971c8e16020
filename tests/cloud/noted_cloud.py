"""A cloud that notes which of its ports a test has used."""

from __future__ import annotations

from typing import Any


class NotedCloud:
    """Passes everything on to a cloud, and collects the names of the ports that were used."""

    def __init__(self, cloud: object) -> None:
        self._cloud = cloud
        self.used: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.used.add(name)
        return getattr(self._cloud, name)
