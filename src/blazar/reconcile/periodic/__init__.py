"""Periodic tasks, which run independently of the leases."""
