"""Filters of hosts."""
