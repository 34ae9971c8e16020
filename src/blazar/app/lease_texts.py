"""Leases as the JSON text that goes to whoever asked for a list of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from blazar.booking.context import Context
from blazar.booking.views import lease_view

_AT_ONCE: Final = 1_000
"""So that of a list of all leases there are never more than these in memory, but for their texts."""


def list_texts(context: Context, project_id: str | None) -> Sequence[str]:
    """Return the views of a project's leases, or of all for None, each as ASCII JSON, oldest first.

    Of a lease that was listed at its revision before only the revision is read.
    """
    with context.store.read() as transaction:
        revisions = transaction.leases.list_revisions(project_id)
        texts = context.lease_memory.recall(revisions)
        unknown = [each for each in revisions if each not in texts]
        for start in range(0, len(unknown), _AT_ONCE):
            for lease in transaction.leases.get_many(unknown[start : start + _AT_ONCE]):
                view = lease_view(lease, context.plugins)
                text = texts[lease.id] = json.dumps(view, separators=(",", ":"))
                context.lease_memory.keep(lease.id, lease.revision, text)
    return [texts[each] for each in revisions]
