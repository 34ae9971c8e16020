"""API version 1."""
