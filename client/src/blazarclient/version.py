"""The version of this distribution."""

__version__ = "5.0.0"
