"""``blazar.wsgi.api:application``, for WSGI servers; importing this module reads the configuration."""

from __future__ import annotations

from blazar.wsgi.application import read_application

application = read_application()
