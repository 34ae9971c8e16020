"""Names of floating IPs in messages, and how the floating IPs of a reservation are recognized.

Lessees look up their addresses by tags, and can also edit them. The service's own records decide the owner of
an address: a reservation that has begun owns the floating IP at each address that it holds, if the floating
IP is in the lessee's project and has the id that was recorded when it was created. If no id is recorded, the
project alone decides.

Tags need a second request. The description is part of the request that creates a floating IP, and also names
the reservation. So the sweep recognizes a floating IP that Neutron created after the manager stopped waiting.
"""

from __future__ import annotations

from blazar.ports.network import FloatingIP


def say_in_use(found: FloatingIP) -> str:
    """Return the reason that an address is occupied, for messages."""
    return f"{found.address} is in use in Neutron: floating IP {found.id} of project {found.project_id}"
