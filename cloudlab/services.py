"""All services of a lab."""

from __future__ import annotations

from collections.abc import Mapping

from cloudlab import blazar, cinder, glance, keystone, mariadb, neutron, nova, placement, rabbitmq
from cloudlab.plan import Plan
from cloudlab.service import Service

_MODULES = (mariadb, rabbitmq, keystone, placement, glance, neutron, cinder, nova, blazar)


def all_services(plan: Plan) -> Mapping[str, Service]:
    """Return the services by name; each comes after the services that it depends on."""
    return {service.name: service for module in _MODULES for service in module.services(plan)}
