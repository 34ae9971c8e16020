"""The programs: each reads the configuration, puts its parts together, and runs."""
