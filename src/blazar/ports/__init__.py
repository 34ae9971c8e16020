"""Protocols for everything outside: store, compute, placement, network, clock, notifier."""
