"""Errors of a lab."""

from __future__ import annotations


class LabError(Exception):
    """The lab cannot do what was requested; the message has the reason and a remedy."""
