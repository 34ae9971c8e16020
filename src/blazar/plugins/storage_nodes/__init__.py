"""Whole storage pools for sole use: ``physical:storage``."""
