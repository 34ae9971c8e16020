"""Usage enforcement: the filters that are shipped, each an implementation of ``blazar.ports.enforcement``."""
