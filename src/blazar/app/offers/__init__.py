"""Use cases of offers: resources are held for a short time, and a lease may be made of them."""

from blazar.app.offers.commit import commit_offer, commit_offer_once
from blazar.app.offers.create import create_offer, create_offer_once
from blazar.app.offers.read import delete_offer, get_offer, list_offers

__all__ = [
    "commit_offer",
    "commit_offer_once",
    "create_offer",
    "create_offer_once",
    "delete_offer",
    "get_offer",
    "list_offers",
]
