"""Parsing of the ``/metrics`` page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import falcon.testing
from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

Samples = Mapping[str, float]


def samples(text: str) -> Samples:
    """Return the value of each sample by its name and labels, as ``name{label="value",…}``."""
    found = {}
    for family in text_string_to_metric_families(text):
        for each in family.samples:
            labels = ",".join(f'{key}="{value}"' for key, value in sorted(each.labels.items()))
            found[f"{each.name}{{{labels}}}" if labels else each.name] = each.value
    return found


def scrape(app: WSGIApplication, path: str = "/metrics") -> Samples:
    """Return the samples on an application's page."""
    answer = falcon.testing.TestClient(app).simulate_get(path)
    assert answer.status_code == 200, answer.text
    return samples(answer.text)
