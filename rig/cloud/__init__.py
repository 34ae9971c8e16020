"""The shipped simulated cloud behind the HTTP APIs of Keystone, Nova, Placement, Neutron and Glance.

It supports only the requests of the service's adapters. ``python -m rig.cloud --hosts 100`` serves one.
"""

from rig.cloud.client import CloudControl
from rig.cloud.faults import Fault, FaultKind
from rig.cloud.server import ServedCloud
from rig.cloud.traffic import Kind, Stats

__all__ = ["CloudControl", "Fault", "FaultKind", "Kind", "ServedCloud", "Stats"]
