"""Protocols for everything outside the process: store, cloud, clock, and the delivery of messages."""
