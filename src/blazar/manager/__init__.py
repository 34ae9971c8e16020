"""Putting a manager together: use cases, reconciler, and what they work with."""
