"""What can go wrong with a lab."""

from __future__ import annotations


class LabError(Exception):
    """The lab cannot do what was asked; the text says why, and what to do about it."""
