"""The manager's interface between processes: over oslo.messaging, and its in-process twin."""

from oslo_service import backend

# Here, so that it comes before oslo.messaging is imported, which would choose eventlet (ADR-0007).
backend.init_backend(backend.BackendType.THREADING)
