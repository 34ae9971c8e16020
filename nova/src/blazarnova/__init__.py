"""Blazar's filter for Nova's scheduler."""
