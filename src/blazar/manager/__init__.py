"""Assembly of a manager: use cases, reconciler, and their dependencies."""
