"""The account of a takeover as text."""

from __future__ import annotations

from collections.abc import Iterator

from blazar.takeover.ledger import Fate, Kind, Ledger, Table
from blazar.takeover.plan import Plan, statuses
from blazar.takeover.taking import Result

_ORDER = (Fate.IMPORTED, Fate.HERE, Fate.OVER, Fate.LEFT_OUT)


def report(result: Result, name: str, limit: int) -> Iterator[str]:
    """Yield the lines of the report.

    Args:
        result: What was, or would be, taken over.
        name: Of the database.
        limit: So many findings of each kind are named; 0 for all.
    """
    ledger = result.plan.ledger
    yield f"from {name}, revision {result.revision or 'unknown'}, at {result.at:%Y-%m-%d %H:%M} UTC"
    yield ""
    yield from _counts(ledger)
    yield ""
    yield from _statuses(result.plan)
    yield from _findings(ledger, limit)
    yield from _last_words(result)


def _counts(ledger: Ledger) -> Iterator[str]:
    yield f"{'rows':26}{'there':>10}" + "".join(f"{each:>14}" for each in _ORDER)
    for table in Table:
        fates = ledger.fates[table]
        yield f"{table:26}{fates.total():>10}" + "".join(f"{fates[each]:>14}" for each in _ORDER)


def _statuses(plan: Plan) -> Iterator[str]:
    """Yield how many imported leases are what now, if there are any."""
    found = statuses(plan)
    if not found:
        return
    yield f"{'leases that were':26}{'are here':14}{'':>2}{'number':>8}"
    for (there, here), number in sorted(found.items()):
        yield f"{there or 'null':26}{here:14}{'':>2}{number:>8}"
    yield ""


def _findings(ledger: Ledger, limit: int) -> Iterator[str]:
    found = ledger.of(Kind)
    yield f"{len(ledger.findings)} findings"
    for kind, findings in found.items():
        yield ""
        yield f"{kind.title}: {len(findings)} ({kind.meaning})"
        for each in findings[: limit or None]:
            yield f"  {each.subject}: {each.reason}"
        if limit and len(findings) > limit:
            yield f"  and {len(findings) - limit} more"


def _last_words(result: Result) -> Iterator[str]:
    yield ""
    if result.is_dry_run:
        yield "dry run: nothing was written"
        return
    if result.plan.hosts:
        yield (
            "hosts have the sizes, zones, inventories and traits of their registration:"
            " run blazar-manage host refresh before the first manager starts"
        )
    yield "done"
