"""Reader for a database of the existing service."""
