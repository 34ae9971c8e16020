"""All stories, by theme."""

from __future__ import annotations

from recorded.stories import access, bodies, floatingips, hosts, instances, leases, networks, versions

STORIES = (
    *versions.STORIES,
    *access.STORIES,
    *bodies.STORIES,
    *hosts.STORIES,
    *leases.STORIES,
    *instances.STORIES,
    *floatingips.STORIES,
    *networks.STORIES,
)
"""In reading order."""
