"""``blazar-manage what-if``: the effect of changes, computed on a copy of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import yaml

from blazar.booking.context import Context
from blazar.cmd.manage.plans import add_document_format, add_periods, days, show, with_rules
from blazar.domain.dates import format_date, parse_date
from blazar.domain.errors import InvalidParameter
from blazar.domain.interval import Interval
from blazar.planning.changes import Addition
from blazar.planning.new_leases import LeaseFile
from blazar.planning.what_if import Changes, try_changes
from blazar.planning.what_if_document import effects_document

_MOST_HOSTS: Final = 10_000
_PAST: Final = timedelta(minutes=1)


def add_parsers(parsers: Any) -> None:
    """Add the sub-command."""
    parser = parsers.add_parser("what-if", help="show the effect of changes, on a copy of the data")
    parser.add_argument("--add", type=int, metavar="N", help="add hosts like the one that --like names")
    parser.add_argument("--like", metavar="HOST", help="name or id of a registered host, for --add")
    parser.add_argument(
        "--with",
        dest="properties",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an extra capability of added hosts that differs; repeatable",
    )
    parser.add_argument(
        "--close",
        action="append",
        default=[],
        metavar="CONDITION",
        help="close the hosts that satisfy a requirement, such as rack=r3; repeatable",
    )
    parser.add_argument(
        "--between", metavar="DATE", help="when hosts are closed: YYYY-MM-DD HH:MM in UTC; now by default"
    )
    parser.add_argument(
        "--and", dest="until", metavar="DATE", help="when they reopen; by default, at the end of the horizon"
    )
    parser.add_argument(
        "--lease",
        action="append",
        default=[],
        metavar="FILE",
        help="try the lease, or the list of leases, in a YAML or JSON file; repeatable",
    )
    add_periods(parser)
    add_document_format(parser)
    parser.set_defaults(run=lambda context, arguments: what_if(with_rules(context), arguments))


def what_if(context: Context, arguments: Any) -> int:
    """Print the effects of changes; return 0.

    Raises:
        InvalidParameter: An argument or the content of a file is invalid; the message names it.
        OSError: The file cannot be written.
    """
    if arguments.add is None and not arguments.close and not arguments.lease:
        raise InvalidParameter("--add, --close, --lease", "name at least one change")
    changes = Changes(
        addition=_addition(arguments),
        closed=tuple(arguments.close),
        window=_window(context.clock.now(), arguments),
        leases=tuple(each for name in arguments.lease for each in _leases(name)),
        history=days(arguments, "history_days"),
    )
    effects = try_changes(context, changes)
    show(arguments, effects, effects_document(effects))
    return 0


def _addition(arguments: Any) -> Addition | None:
    if arguments.add is None:
        given = "--like" if arguments.like is not None else "--with" if arguments.properties else None
        if given is not None:
            raise InvalidParameter("--add", f"is missing: {given} is about added hosts")
        return None
    if not 1 <= arguments.add <= _MOST_HOSTS:
        raise InvalidParameter("--add", f"must be a number of hosts from 1 to {_MOST_HOSTS}")
    if arguments.like is None:
        raise InvalidParameter("--like", "is missing: name the registered host that added hosts are like")
    return Addition(number=arguments.add, like=arguments.like, properties=_properties(arguments.properties))


def _properties(pairs: Sequence[str]) -> Mapping[str, str]:
    found = {}
    for each in pairs:
        key, sign, value = each.partition("=")
        if not key or not sign:
            raise InvalidParameter("--with", f"must be KEY=VALUE, not {each[:64]}")
        found[key] = value
    return found


def _window(now: datetime, arguments: Any) -> Interval:
    start = now if arguments.between is None else parse_date("--between", arguments.between, now)
    if start < now - _PAST:
        raise InvalidParameter("--between", f"is past; it is {format_date(now)} UTC now")
    start = max(start, now)
    if arguments.until is None:
        return Interval(start, start + days(arguments, "horizon_days"))
    end = parse_date("--and", arguments.until, now)
    if end <= start:
        raise InvalidParameter("--and", f"must be later than --between, {format_date(start)} UTC")
    return Interval(start, end)


def _leases(name: str) -> Iterator[LeaseFile]:
    """Yield the leases in a file. Raises InvalidParameter."""
    try:
        content = yaml.safe_load(Path(name).read_text())
    except OSError as error:
        raise InvalidParameter("--lease", f"{name}: {error.strerror}") from error
    except RecursionError as error:
        raise InvalidParameter("--lease", f"{name}: its values are nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:
        # A ValueError is not only about bytes: YAML reads dates and numbers.
        text = " ".join(str(error).split())
        raise InvalidParameter("--lease", f"{name} is neither YAML nor JSON: {text}") from error
    # An empty list has no lease either.
    found = content if isinstance(content, list) and content else [content]
    for number, each in enumerate(found, 1):
        if not isinstance(each, Mapping):
            raise InvalidParameter("--lease", f"{name}: must be a lease, or a list of leases")
        source = name if len(found) == 1 else f"{name}, lease {number}"
        yield LeaseFile(source=source, body={key: _text(value) for key, value in each.items()})


def _text(value: object) -> object:
    """Return a date of YAML as it is written in requests: in UTC, which it also is without a zone."""
    if not isinstance(value, datetime):
        return value
    return format_date(value if value.tzinfo is None else value.astimezone(UTC))
