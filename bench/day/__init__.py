"""A day in the life of a site on a fast clock (``python -m bench.day --help``)."""
