"""The kernel that use cases and engine share: index, search, assignments, transitions, scheduling."""
