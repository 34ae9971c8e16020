"""Reading a database of the existing service."""
