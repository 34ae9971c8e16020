"""``blazar-manage outbox``: waiting and failed messages."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from blazar.booking.context import Context
from blazar.cmd.manage.rendering import add_format, present, shown
from blazar.ports.outbox import Letter, Outbox

_LISTED = 1000
_ALL = 2**31 - 1


def add_parsers(parsers: Any) -> None:
    """Add the sub-commands."""
    outbox = parsers.add_parser("outbox", help="notifications and messages to filters")
    verbs = outbox.add_subparsers(required=True)
    listing = verbs.add_parser("list", help="print failed messages")
    listing.add_argument("--waiting", action="store_true", help="print waiting messages instead")
    listing.add_argument(
        "--limit", type=int, default=_LISTED, help=f"maximum number, oldest first; {_LISTED}"
    )
    add_format(listing)
    listing.set_defaults(run=list_messages)
    one = verbs.add_parser("show", help="print a message with its payload")
    one.add_argument("id", type=int)
    add_format(one)
    one.set_defaults(run=show)
    again = verbs.add_parser("resend", help="send messages again now")
    _add_choice(again, "all failed messages")
    again.set_defaults(run=resend)
    away = verbs.add_parser("purge", help="delete messages, which are then never delivered")
    _add_choice(away, "all failed messages")
    away.set_defaults(run=purge)


def _add_choice(parser: Any, everything: str) -> None:
    parser.add_argument("ids", type=int, nargs="*", metavar="id", help="as printed by outbox list")
    parser.add_argument("--all", action="store_true", help=everything)


def list_messages(context: Context, arguments: Any) -> int:
    """Print a line for each message; return 0."""
    with context.store.read() as transaction:
        letters = transaction.outbox.list(failed=not arguments.waiting, limit=arguments.limit)
    summary = f"{len(letters)} messages {'wait' if arguments.waiting else 'failed'}"
    lines = [*(_line(each) for each in letters), summary]
    present(arguments, [_document(each) for each in letters], lines)
    return 0


def show(context: Context, arguments: Any) -> int:
    """Print a message with its payload; return 1 if it does not exist."""
    with context.store.read() as transaction:
        letter = transaction.outbox.find(arguments.id)
    if letter is None:
        print(f"There is no message {arguments.id}", file=sys.stderr)
        return 1
    document = {**_document(letter), "payload": _payload(letter)}
    present(arguments, document, [_line(letter), letter.payload])
    return 0


def resend(context: Context, arguments: Any) -> int:
    """Make messages due now; return 1 if one does not exist, or none is given."""
    return _with_chosen(
        context,
        arguments,
        lambda outbox, ids: outbox.resend(ids, context.clock.now()),
        "messages will be sent again by a manager",
    )


def purge(context: Context, arguments: Any) -> int:
    """Delete messages; return 1 if one does not exist, or none is given."""
    return _with_chosen(context, arguments, lambda outbox, ids: outbox.remove(ids), "messages were deleted")


def _with_chosen(
    context: Context, arguments: Any, act: Callable[[Outbox, list[int]], None], done: str
) -> int:
    if not arguments.all and not arguments.ids:
        print("Give the ids of messages, or --all", file=sys.stderr)
        return 1
    with context.store.begin() as transaction:
        outbox = transaction.outbox
        if arguments.all:
            found = [each.id for each in outbox.list(failed=True, limit=_ALL)]
        else:
            found = [each for each in arguments.ids if outbox.find(each) is not None]
        act(outbox, found)
        transaction.commit()
    print(f"{len(found)} {done}")
    missing = [each for each in arguments.ids if each not in found and not arguments.all]
    for each in missing:
        print(f"There is no message {each}", file=sys.stderr)
    return 1 if missing else 0


def _line(letter: Letter) -> str:
    made = "" if letter.created_at is None else shown(letter.created_at)
    tried = f"{letter.attempts} attempts"
    if letter.failed_at is None:
        fate = f"next try at {shown(letter.due_at)}"
    else:
        fate = f"failed at {shown(letter.failed_at)}"
    parts = (letter.id, made, letter.event_type, letter.lease_id, tried, fate, letter.problem)
    return "  ".join(str(each) for each in parts if each)


def _document(letter: Letter) -> dict[str, object]:
    return {
        "id": letter.id,
        "event_type": letter.event_type,
        "lease_id": letter.lease_id,
        "attempts": letter.attempts,
        "created_at": letter.created_at,
        "next_try_at": letter.due_at if letter.failed_at is None else None,
        "given_up_at": letter.failed_at,
        "problem": letter.problem,
    }


def _payload(letter: Letter) -> object:
    """Return the payload as a JSON value, or as text if it is damaged."""
    try:
        return json.loads(letter.payload)
    except ValueError:
        return letter.payload
