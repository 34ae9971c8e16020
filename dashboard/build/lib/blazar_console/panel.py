"""The panel, which Horizon shows if the catalog has the service."""

from __future__ import annotations

import horizon
from django.utils.translation import gettext_lazy as _

SERVICE_TYPE = "reservation"


class ReservationsConsole(horizon.Panel):
    """The console of the reservation service."""

    name = _("Reservations console")
    slug = "reservations_console"
    permissions = (f"openstack.services.{SERVICE_TYPE}",)
