"""The account of an import as text or as a document."""

from __future__ import annotations

from collections.abc import Iterator

from blazar.importer.importing import Result
from blazar.importer.ledger import Fate, Kind, Ledger, Table
from blazar.importer.plan import Plan, statuses

_ORDER = (Fate.IMPORTED, Fate.HERE, Fate.OVER, Fate.LEFT_OUT)


def report(result: Result, name: str, limit: int) -> Iterator[str]:
    """Yield the lines of the report.

    Args:
        result: The result of the import or of the dry run.
        name: The name of the existing database.
        limit: The maximum number of findings to list for each kind; 0 for all.
    """
    ledger = result.plan.ledger
    yield f"from {name}, revision {result.revision or 'unknown'}, at {result.at:%Y-%m-%d %H:%M} UTC"
    yield ""
    yield from _counts(ledger)
    yield ""
    yield from _statuses(result.plan)
    yield from _findings(ledger, limit)
    yield from _last_words(result)


def as_document(result: Result, name: str) -> dict[str, object]:
    """Return the report as dicts, lists and values, with all findings.

    Args:
        result: The result of the import or of the dry run.
        name: The name of the existing database.
    """
    ledger = result.plan.ledger
    return {
        "database": name,
        "revision": result.revision,
        "at": result.at,
        "is_dry_run": result.is_dry_run,
        "rows": [
            {
                "table": table.value.replace(" ", "_").lower(),
                "total": ledger.fates[table].total(),
                **{fate.name.lower(): ledger.fates[table][fate] for fate in _ORDER},
            }
            for table in Table
        ],
        "statuses": [
            {"there": there or None, "here": here, "leases": number}
            for (there, here), number in sorted(statuses(result.plan).items())
        ],
        "findings": [
            {"kind": kind.title, "subject": each.subject, "reason": each.reason, "lease_id": each.lease_id}
            for kind, findings in ledger.of(Kind).items()
            for each in findings
        ],
    }


def _counts(ledger: Ledger) -> Iterator[str]:
    yield f"{'rows':26}{'there':>10}" + "".join(f"{each:>14}" for each in _ORDER)
    for table in Table:
        fates = ledger.fates[table]
        yield f"{table:26}{fates.total():>10}" + "".join(f"{fates[each]:>14}" for each in _ORDER)


def _statuses(plan: Plan) -> Iterator[str]:
    """Yield the number of imported leases by old and new status, if there are any."""
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
            "hosts have the sizes, zones, inventories and traits from their registration:"
            " run blazar-manage host refresh before the first manager starts"
        )
    yield "done"
