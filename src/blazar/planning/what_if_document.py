"""The effects of changes as a document for operators."""

from __future__ import annotations

from collections.abc import Sequence

from blazar.domain.dates import format_date
from blazar.domain.wording import first_few
from blazar.planning.document import Document, Items, Paragraph, Part, Section, Table
from blazar.planning.loss import AffectedReservation
from blazar.planning.plan_document import affected_table
from blazar.planning.what_if import Effects

_SHOWN = 20
"""The most rows of a table that are shown; JSON has all."""


def effects_document(effects: Effects) -> Document:
    """Return the effects of changes as a document."""
    return Document(
        f"What if, on {format_date(effects.made_at)} UTC",
        [
            _changes_section(effects),
            Section("Leases that move", _moves(effects)),
            Section("Leases that fail", _failing(effects)),
            Section("New leases", _new_leases(effects)),
            _utilisation_section(effects),
            _replay_section(effects),
        ],
    )


def _changes_section(effects: Effects) -> Section:
    window = f"{format_date(effects.window_start)} to {format_date(effects.window_end)} UTC"
    texts = []
    if effects.added:
        texts.append(f"{_count(effects.added, 'host')} added: {first_few(list(effects.added))}")
    if effects.closed:
        closed = first_few(list(effects.closed))
        texts.append(f"{_count(effects.closed, 'host')} closed from {window}: {closed}")
    if effects.leases:
        texts.append(f"{_count(effects.leases, 'lease')} tried")
    return Section("Changes", [Items(texts), Paragraph("This is a copy of the data: nothing was changed.")])


def _moves(effects: Effects) -> Sequence[Part]:
    moves = effects.moves
    if not moves:
        return [Paragraph("None.")]
    rows = [
        (
            *(each.lease_id, each.lease_name, each.project_id or "-"),
            *(format_date(each.start), format_date(each.end)),
            *(", ".join(each.removed), ", ".join(each.added)),
        )
        for each in moves[:_SHOWN]
    ]
    table = Table(("lease", "name", "project", "from", "to", "leaves", "gets"), rows)
    return [Paragraph(f"{_count(moves, 'reservation')}:"), table]


def _failing(effects: Effects) -> Sequence[Part]:
    parts = [
        *_affected("These have not begun, and find no other hosts", effects.failing),
        *_affected("These have begun, and keep their hosts, as with maintenance", effects.keeping),
    ]
    return parts or [Paragraph("None.")]


def _affected(text: str, affected: Sequence[AffectedReservation]) -> Sequence[Part]:
    if not affected:
        return []
    return [Paragraph(f"{text} ({_count(affected, 'reservation')}):"), affected_table(affected)]


def _new_leases(effects: Effects) -> Sequence[Part]:
    if not effects.leases:
        return [Paragraph("None were tried.")]
    rows = [
        (
            *(each.source, each.name, format_date(each.start), format_date(each.end)),
            "fits" if each.fits else "fails",
            ", ".join(each.resources) or each.reason,
        )
        for each in effects.leases
    ]
    return [Table(("file", "name", "from", "to", "result", "resources or reason"), rows)]


def _utilisation_section(effects: Effects) -> Section:
    before, after = effects.utilisation_before, effects.utilisation_after
    start, end = format_date(effects.window_start), format_date(effects.window_end)
    rows = [
        ("hosts", before.hosts, after.hosts),
        ("host hours that can be reserved", before.host_hours, after.host_hours),
        ("host hours that are reserved", before.reserved_hours, after.reserved_hours),
        ("utilisation, %", before.percent, after.percent),
        ("most hosts reserved at once", before.peak, after.peak),
    ]
    return Section(
        "Utilisation",
        [Paragraph(f"From {start} to {end} UTC:"), Table(("", "now", "with the changes"), rows)],
    )


def _replay_section(effects: Effects) -> Section:
    before, after = effects.replay_before, effects.replay_after
    rows = [
        ("hosts", before.hosts, after.hosts),
        ("requests", before.requests, after.requests),
        ("refused when they were made", before.refused_then, after.refused_then),
        ("refused", len(before.refused), len(after.refused)),
        ("refused, %", before.refused_percent, after.refused_percent),
        ("utilisation, %", before.utilisation_percent, after.utilisation_percent),
        ("most hosts reserved at once", before.peak, after.peak),
    ]
    parts: list[Part] = [
        Paragraph(
            f"The recorded requests since {format_date(effects.history_start)} UTC, made again in their order"
            " on empty hosts; closed hosts are missing for the whole time. Those of deleted leases are made"
            " at their starts, for what they held, without conditions. Those that were refused for lack of"
            " free hosts are made after all others."
        ),
        Table(("", "present hosts", "with the changes"), rows),
    ]
    if after.refused:
        refused = [
            (
                *(each.lease_id, each.lease_name, each.project_id or "-"),
                *(format_date(each.start), format_date(each.end), each.reason),
            )
            for each in after.refused[:_SHOWN]
        ]
        parts.append(Paragraph(f"Refused with the changes ({_count(after.refused, 'request')}):"))
        parts.append(Table(("lease", "name", "project", "from", "to", "reason"), refused))
    return Section("Replay of past requests", parts)


def _count(items: Sequence[object], noun: str) -> str:
    return f"{len(items)} {noun}" if len(items) == 1 else f"{len(items)} {noun}s"
