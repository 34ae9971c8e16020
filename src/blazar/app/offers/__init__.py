"""Use cases of offers: resources are held for a short time, for a new lease or a change of one."""

from blazar.app.offers.commit import commit_offer, commit_offer_once
from blazar.app.offers.create import create_offer, create_offer_once
from blazar.app.offers.create_change import create_lease_offer, create_lease_offer_once
from blazar.app.offers.read import delete_offer, get_offer, list_offers

__all__ = [
    "commit_offer",
    "commit_offer_once",
    "create_lease_offer",
    "create_lease_offer_once",
    "create_offer",
    "create_offer_once",
    "delete_offer",
    "get_offer",
    "list_offers",
]
