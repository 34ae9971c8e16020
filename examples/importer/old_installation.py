"""Write a database as the existing service leaves it: ``python examples/importer/old_installation.py FILE``.

The database has more than a thousand leases in all statuses, and one defect of each kind that
``blazar-manage import`` detects.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

import old_schema
from defects import add_defects
from installation import OldInstallation
from population import populate

from blazar.manager.clocks import SystemClock


def main() -> None:
    """Write the database and print the number of leases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", help="a new SQLite file, or the URL of an empty database")
    parser.add_argument("--now", help="the current time there, as in 2031-01-01T00:00; by default now")
    options = parser.parse_args()
    now = datetime.fromisoformat(options.now) if options.now else SystemClock().now()
    now = (now.astimezone(UTC) if now.tzinfo else now).replace(tzinfo=None, second=0, microsecond=0)
    url = options.target if "://" in options.target else f"sqlite:///{options.target}"
    installation = make_example(now)
    old_schema.write(url, installation.rows)
    print(f"{len(installation.rows[old_schema.leases])} leases")


def make_example(now: datetime) -> OldInstallation:
    """Return the whole installation at an instant in naive UTC."""
    installation = OldInstallation(now)
    populate(installation)
    add_defects(installation)
    return installation


if __name__ == "__main__":
    main()
