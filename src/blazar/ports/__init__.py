"""Protocols for everything outside the process: store, compute, placement, network, clock, notifier."""
