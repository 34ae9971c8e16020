"""Columns and order of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from blazarclient import exception, terminal
from blazarclient.base import Record, Records
from blazarclient.i18n import _


def chosen(asked: Sequence[str], default: Iterable[str], records: Records) -> tuple[str, ...]:
    """Return the columns in *asked* that a list has; all of them if the list is empty.

    Args:
        asked: Names of columns.
        default: Columns of the list even if no record has them.
        records: The listed records.

    Raises:
        CommandError: The list has none of the columns.
    """
    if not records:
        return tuple(dict.fromkeys(asked))
    known = {key for each in records for key in each}.union(default)
    found = tuple(each for each in dict.fromkeys(asked) if each in known)
    if not found:
        raise exception.CommandError(
            _("Unknown column %(name)s; known columns: %(known)s")
            % {"name": ", ".join(map(repr, asked)), "known": ", ".join(sorted(known))}
        )
    return found


def ordered(
    records: Records,
    wanted: str,
    columns: Iterable[str],
    *,
    is_natural: bool = False,
    accepts_any: bool = False,
) -> Records:
    """Return *records* sorted by one or more keys.

    Args:
        records: The records to sort.
        wanted: Keys, separated by commas, each optionally with ``:asc`` or ``:desc``.
        columns: Keys that are valid even if no record has them.
        is_natural: Whether to use natural order, in which host-2 sorts before host-10.
        accepts_any: Whether all keys are valid; in any case, they are if there are no records.

    Raises:
        CommandError: A key or a direction is unknown.
    """
    accepts_any = accepts_any or not records
    known = {key for each in records for key in each}.union(columns)
    for each in reversed([each for each in wanted.split(",") if each]):
        key, _separator, direction = each.partition(":")
        if not (accepts_any or key in known) or direction not in ("", "asc", "desc"):
            raise exception.CommandError(
                _("Invalid sort option %(given)s; use <key>, <key>:asc or <key>:desc; keys: %(known)s")
                % {"given": each, "known": ", ".join(sorted(known))}
            )
        records = sorted(records, key=_sort_key(key, is_natural), reverse=direction == "desc")
    return records


def _sort_key(key: str, is_natural: bool) -> Callable[[Record], tuple[bool, bool, Any]]:
    as_text = terminal.natural if is_natural else str

    def of(record: Record) -> tuple[bool, bool, Any]:
        value = record.get(key)
        is_number = isinstance(value, int | float)
        return value is not None, not is_number, value if is_number or value is None else as_text(str(value))

    return of
