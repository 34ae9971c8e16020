"""Processor time and memory in the course of the day, as SVG."""

from __future__ import annotations

import math
from typing import Final

from bench.day.happenings import UPGRADE
from bench.day.report import Findings
from bench.plots import Band, Curve, Panel, picture
from bench.service.lines import number

_WIDTH: Final = 900
_FAULT: Final = "#fbe3dd"
_NEW_RELEASE: Final = "#dcebf7"
_HIGHER: Final = 1.1


def draw(findings: Findings) -> str:
    """Return the picture: upgrades are marked in blue, faults in red."""
    hours = findings.day.hours
    kinds = dict.fromkeys(each.kind for each in findings.samples)
    bands = [
        Band(
            left=hours(each.began_at),
            right=hours(each.ended_at),
            colour=_NEW_RELEASE if each.name == UPGRADE else _FAULT,
        )
        for each in findings.happenings
    ]
    last = max(hours(each.at) for each in findings.samples)
    step = max(1, math.ceil(last / 12))
    panels = []
    for title, value in (("processor: cores in use", "cores"), ("memory: MiB", "mebibytes")):
        points = {kind: [each for each in findings.samples if each.kind == kind] for kind in kinds}
        curves = [
            Curve(name=kind, points=[(hours(each.at), getattr(each, value)) for each in own])
            for kind, own in points.items()
        ]
        panels.append(
            Panel(
                title=f"{title}, against simulated hours; upgrades blue, faults red",
                curves=curves,
                most=max(y for curve in curves for _, y in curve.points) * _HIGHER,
                ticks=[*range(0, math.ceil(last), step), last],
                bands=bands,
                has_spots=False,
                width=_WIDTH,
            )
        )
    return picture(panels, number, is_column=True)
