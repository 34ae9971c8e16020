"""Write a database as the existing service leaves it: ``python examples/takeover/old_installation.py FILE``.

More than a thousand leases in every status, and one of every defect that ``blazar-manage import`` knows.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

import old_schema
from defects import add_defects
from installation import Installation
from population import populate

from blazar.manager.clocks import SystemClock


def main() -> None:
    """Write it, and say how many leases there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", help="a new file for SQLite, or the URL of an empty database")
    parser.add_argument("--now", help="the present there, as in 2031-01-01T00:00; the present by default")
    options = parser.parse_args()
    now = datetime.fromisoformat(options.now) if options.now else SystemClock().now()
    now = (now.astimezone(UTC) if now.tzinfo else now).replace(tzinfo=None, second=0, microsecond=0)
    url = options.target if "://" in options.target else f"sqlite:///{options.target}"
    installation = make_example(now)
    old_schema.write(url, installation.rows)
    print(f"{len(installation.rows[old_schema.leases])} leases")


def make_example(now: datetime) -> Installation:
    """Return the whole installation as it is at this instant, which is naive UTC."""
    installation = Installation(now)
    populate(installation)
    add_defects(installation)
    return installation


if __name__ == "__main__":
    main()
