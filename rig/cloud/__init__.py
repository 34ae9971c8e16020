"""The shipped simulated cloud behind the HTTP APIs of Keystone, Nova, Placement, Neutron and Glance.

It answers what the service's adapters ask, and no more. ``python -m rig.cloud --hosts 100`` serves one.
"""

from rig.cloud.client import CloudControl
from rig.cloud.faults import Fault, FaultKind
from rig.cloud.server import ServedCloud
from rig.cloud.traffic import Figures, Kind

__all__ = ["CloudControl", "Fault", "FaultKind", "Figures", "Kind", "ServedCloud"]
