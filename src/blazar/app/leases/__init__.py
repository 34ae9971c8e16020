"""Use cases of leases: each stores the intent in one transaction, and the reconciler carries it out."""

from blazar.app.leases.create import create_lease, create_lease_once, preview_lease
from blazar.app.leases.delete import delete_lease
from blazar.app.leases.pages import list_lease_page
from blazar.app.leases.read import (
    cache_newest,
    get_lease,
    list_lease_allocations,
    list_lease_history,
    list_lease_resources,
    list_leases,
    read_lease,
)
from blazar.app.leases.update import commit_offered_change, preview_update, update_lease

__all__ = [
    "cache_newest",
    "commit_offered_change",
    "create_lease",
    "create_lease_once",
    "delete_lease",
    "get_lease",
    "list_lease_allocations",
    "list_lease_history",
    "list_lease_page",
    "list_lease_resources",
    "list_leases",
    "preview_lease",
    "preview_update",
    "read_lease",
    "update_lease",
]
