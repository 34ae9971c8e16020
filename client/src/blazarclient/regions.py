"""Questions to the services of several regions at the same time.

::

    names = regions.named(client, "all")
    answers = regions.ask(client, names, lambda each: each.availability.search(reservations, "8h"))
    for slot in regions.ranked(answers.found):
        print(slot["region"], slot["start_date"])
    print(answers.failed)
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from keystoneauth1 import exceptions as ksa_exceptions

from blazarclient import advice, exception
from blazarclient.base import Record, Records
from blazarclient.i18n import _

ALL = "all"
"""Text for all regions with an endpoint of the service."""
TIMEOUT_SECONDS = 30.0
"""Time for the answers of all regions."""

Question = Callable[[Any], Record]
"""Asks the client of one region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers of regions that answered, and for the other regions, the reason."""

    found: Mapping[str, Record]
    failed: Mapping[str, str]


def endpoints(client: Any) -> dict[str, str]:
    """Return the URL of the service by region, from the service catalogue of the user's token.

    Raises:
        CommandError: The client has no service catalogue, because it does not use Keystone.
    """
    sender = client.lease.request_manager
    auth: Any = getattr(sender, "auth", None) or getattr(getattr(sender, "session", None), "auth", None)
    if not hasattr(auth, "get_access"):
        raise exception.CommandError(
            _("Several regions can only be asked with Keystone, which lists their endpoints"), code=400
        )
    catalogue = auth.get_access(sender.session).service_catalog
    found = catalogue.get_endpoints_data(
        service_type=sender.service_type or "reservation",
        interface=sender.interface or "public",
        service_name=sender.service_name,
    )
    urls: dict[str, str] = {}
    for each in chain.from_iterable(found.values()):
        urls.setdefault(str(each.region_name), each.url)
    return urls


def named(client: Any, text: str) -> list[str]:
    """Return the regions in *text*, ``all`` or names that are separated by commas.

    Raises:
        CommandError: The service has no endpoint in a region.
    """
    known = endpoints(client)
    names = [*known] if text == ALL else [each.strip() for each in text.split(",") if each.strip()]
    unknown = [each for each in names if each not in known]
    if unknown or not names:
        raise exception.CommandError(
            _("--region: no endpoint of the service in %(unknown)s; use all, or names from: %(known)s")
            % {"unknown": ", ".join(unknown) or repr(text), "known": ", ".join(sorted(known)) or _("none")},
            code=400,
        )
    return sorted(set(names))


def ask(client: Any, names: Sequence[str], question: Question) -> Answers:
    """Return the answers to a question, which all regions get at the same time.

    Args:
        client: The client of any region; the others get the same session and options.
        names: Regions from :func:`named`.
        question: Asks one region; it is called in another thread.
    """
    urls = endpoints(client)
    answered: queue.SimpleQueue[tuple[str, Record | str]] = queue.SimpleQueue()
    for each in names:
        one = _client_of(client, each, urls[each])
        # Daemons, so that the program can end although a region does not answer.
        threading.Thread(target=_ask_one, args=(each, one, question, answered), daemon=True).start()
    found: dict[str, Record] = {}
    failed = dict.fromkeys(names, _("no answer within %g seconds") % TIMEOUT_SECONDS)
    end = time.monotonic() + TIMEOUT_SECONDS
    for _each in names:
        try:
            name, answer = answered.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            break
        if isinstance(answer, str):
            failed[name] = answer
        else:
            found[name] = answer
            del failed[name]
    return Answers(found={each: found[each] for each in names if each in found}, failed=failed)


def ranked(found: Mapping[str, Record], *, by: str = "earliest", limit: int | None = None) -> Records:
    """Return the time slots of searches in several regions, best first, each with its ``region``.

    Args:
        found: Results of ``availability.search`` by region.
        by: ``earliest``, ``longest`` or ``most``, as in the searches.
        limit: The number of time slots; None for all.
    """
    slots = [each | {"region": name} for name, answer in found.items() for each in answer["slots"]]
    return sorted(slots, key=lambda slot: (_rank(slot, by), slot["start_date"]))[:limit]


def _rank(slot: Record, by: str) -> float:
    if by == "most":
        return float(-sum(each["amount"] for each in slot["reservations"]))
    if by == "longest":
        start, end = (datetime.fromisoformat(slot[key]) for key in ("start_date", "end_date"))
        return (start - end).total_seconds()
    return 0


def _client_of(client: Any, region: str, url: str) -> Any:
    """Return a client with the session and the options of *client*, for another region."""
    sender = client.lease.request_manager
    return type(client)(
        session=sender.session,
        auth=sender.auth,
        service_type=sender.service_type,
        interface=sender.interface,
        region_name=region,
        endpoint_override=url,
        default_microversion=sender.default_microversion,
    )


def _ask_one(
    name: str, client: Any, question: Question, answered: queue.SimpleQueue[tuple[str, Record | str]]
) -> None:
    """Put the answer of a region, or the message of its error, into *answered*."""
    try:
        answered.put((name, question(client)))
    except exception.BlazarClientException as error:
        answered.put((name, advice.explain(error)))
    except ksa_exceptions.ClientException as error:
        answered.put((name, advice.explain_transport_error(error) or str(error)))
