"""Usage enforcement: the built-in filters, which implement ``blazar.ports.enforcement``."""
