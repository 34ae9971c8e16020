"""Bulk registration of hosts from a file or from Nova, with parallel requests."""

from __future__ import annotations

import csv
import fnmatch
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from keystoneauth1 import exceptions as ksa_exceptions
from openstack import exceptions as sdk_exceptions

from blazarclient import advice, cloud_names, exception
from blazarclient.base import Record
from blazarclient.i18n import _

STDIN = "-"
DEFAULT_PARALLEL = 8
"""Default number of parallel requests."""

Extras = Mapping[str, str]
Hosts = Mapping[str, Extras]
"""Extra capabilities by host name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Result of a bulk registration."""

    registered: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Error messages by host name."""


def read_hosts(path: str) -> Hosts:
    """Return the hosts in a file; ``-`` is standard input.

    A file whose name ends in ``.csv`` starts with a line of column names, which include ``name``. Any
    other file is YAML or JSON: a list of names and of objects with a ``name``, or an object with such a
    list under ``hosts``. All values are text.

    Raises:
        CommandError: The file cannot be read, or does not contain hosts.
    """
    try:
        text = sys.stdin.read() if path == STDIN else Path(path).read_text()
        entries = _in_csv(text) if path.lower().endswith(".csv") else _in_yaml(text)
        return _hosts(entries)
    except (OSError, UnicodeDecodeError, csv.Error, yaml.YAMLError, exception.CommandError) as error:
        raise exception.CommandError(f"{path}: {error}", code=400) from None


def hypervisors(app: Any) -> Sequence[str]:
    """Return the names of the hypervisors in Nova.

    Raises:
        CommandError: The cloud has no Nova, or the user is not allowed to list hypervisors.
    """
    connection = cloud_names.connection_of(app)
    try:
        if connection is not None:
            return [str(each.name) for each in connection.compute.hypervisors()]
        reason = _("the cloud has no compute service")
    except (sdk_exceptions.SDKException, ksa_exceptions.ClientException) as error:
        reason = str(error).splitlines()[0]
    raise exception.CommandError(
        _("Cannot list hypervisors: %s; use --from-file with the names of the hosts") % reason, code=400
    )


def matching(names: Iterable[str], patterns: Sequence[str]) -> Sequence[str]:
    """Return the *names* that match a shell pattern, or all names without patterns."""
    return [
        name for name in names if not patterns or any(fnmatch.fnmatchcase(name, each) for each in patterns)
    ]


def register(
    hosts: Hosts,
    create: Callable[[str, Extras], object],
    *,
    parallel: int,
    print_progress: Callable[[str], None],
) -> Outcome:
    """Register hosts with parallel requests; continue if a host fails.

    Args:
        hosts: The hosts.
        create: Registers a host; called in threads.
        parallel: Maximum number of parallel requests.
        print_progress: Prints a line of progress.
    """
    outcome = Outcome()
    with ThreadPoolExecutor(parallel) as threads:
        names = {threads.submit(create, name, extras): name for name, extras in hosts.items()}
        try:
            for count, each in enumerate(as_completed(names), start=1):
                result = _record(outcome, names[each], each)
                print_progress(f"[{count}/{len(names)}] {names[each]}: {result}")
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return outcome


def _record(outcome: Outcome, name: str, attempt: Future[object]) -> str:
    """Add the result of an attempt to *outcome*, and return it as text."""
    try:
        attempt.result()
    except exception.BlazarClientException as error:
        outcome.failed[name] = advice.explain(error)
    except ksa_exceptions.ClientException as error:
        outcome.failed[name] = advice.explain_transport_error(error) or str(error)
    else:
        outcome.registered.append(name)
        return _("registered")
    return outcome.failed[name]


def _in_csv(text: str) -> Iterable[Any]:
    rows = csv.DictReader(io.StringIO(text), strict=True, skipinitialspace=True)
    if "name" not in (rows.fieldnames or ()):
        raise exception.CommandError(_("the first line must contain column names, including: name"))
    for row in rows:
        if None in row:
            raise exception.CommandError(_("line %d has more values than columns") % rows.line_num)
        # Empty and missing fields are not set.
        yield {key: value for key, value in row.items() if value}


def _in_yaml(text: str) -> Iterable[Any]:
    # Capabilities are text, so the loader must not parse numbers, dates or booleans.
    found = yaml.load(text, yaml.BaseLoader)  # noqa: S506  (it only loads strings, lists and mappings)
    if isinstance(found, Mapping):
        found = found.get("hosts")
    if isinstance(found, str):
        found = found.split()
    if not isinstance(found, list):
        raise exception.CommandError(_("expected a list of hosts: names, or objects with a name"))
    return found


def _hosts(entries: Iterable[Any]) -> Hosts:
    hosts: dict[str, Extras] = {}
    for entry in entries:
        values: Record = dict(entry) if isinstance(entry, Mapping) else {"name": entry}
        name = values.pop("name", "")
        odd = [key for key, value in values.items() if not isinstance(value, str)]
        if not isinstance(name, str) or not name:
            raise exception.CommandError(_("a host has no name: %s") % entry)
        if odd:
            raise exception.CommandError(
                _("%(name)s: %(key)s must be text or a number") % {"name": name, "key": odd[0]}
            )
        if name in hosts:
            raise exception.CommandError(_("host %s occurs twice; remove one") % name)
        hosts[name] = values
    return hosts
