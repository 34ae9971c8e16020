"""The manager's interface between processes: over oslo.messaging, and its in-process counterpart."""

from oslo_service import backend

# Must run before oslo.messaging is imported, which would otherwise choose eventlet (ADR-0007).
backend.init_backend(backend.BackendType.THREADING)
